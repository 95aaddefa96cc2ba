from lyceum.dropin.calls import report as report
from lyceum.dropin.switch import (
    patch_sklearn as patch_sklearn,
    shared_classes as shared_classes,
    unpatch_sklearn as unpatch_sklearn,
)
