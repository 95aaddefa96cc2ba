from lyceum.workbench.opening import (
    WorkbenchSettings as WorkbenchSettings,
    open_workbench as open_workbench,
)
