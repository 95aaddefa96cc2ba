"""Models at work on files: fitted from one, and predicting, measured, explained and compared on
others.

Files are read and written a batch at a time. The commands of the same names render what is returned
here. What a function needs is imported when it is first used: a prediction waits for no picture.
"""

from lyceum._core.first_use import import_on_first_use

__getattr__, __dir__, __all__ = import_on_first_use(__name__)
