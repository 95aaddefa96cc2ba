"""What a setting may be: scikit-learn's declared constraints, imported here and nowhere else.

scikit-learn keeps them private; where it moves them, this file follows.
"""

from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    RealNotInt,
    StrOptions,
    make_constraint,
)

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "Options",
    "RealNotInt",
    "StrOptions",
    "make_constraint",
]
