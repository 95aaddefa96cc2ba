"""A parameter that a docstring leaves out is described by its bases or by the shared table."""

import inspect

from lyceum._core.base.parameter_docs import (
    SHARED_PARAMETERS,
    complete_docstring,
    parse_entries,
)
from lyceum.linear import Lasso


class Base:
    _parameter_docs = """
    depth : int
        How deep.
    tol : float
        Where to stop.
    """
    _attribute_docs = """
    depth_ : int
        How deep it is.
    """


class Own(Base):
    """What it is.

    Parameters
    ----------
    tol : float, default=0.5
        Its own text.

    Examples
    --------
    >>> 1 + 1
    2
    """

    def __init__(
        self, depth: int = 3, *, tol: float = 0.5, verbose: int = 0, other: str = "x"
    ):
        self.settings = depth, tol, verbose, other


def test_missing_texts_come_in_the_order_of_the_signature():
    complete_docstring(Own)
    assert Own.__doc__ == inspect.cleandoc(
        """What it is.

        Parameters
        ----------
        depth : int, default=3
            How deep.
        tol : float, default=0.5
            Its own text.
        verbose : int, default=0
            Whether to print the progress of `fit`: 1 in tenths, 2 every step.

        Attributes
        ----------
        depth_ : int
            How deep it is.

        Examples
        --------
        >>> 1 + 1
        2"""
    )


def test_completing_twice_changes_nothing():
    complete_docstring(Own)
    before = Own.__doc__
    complete_docstring(Own)
    assert Own.__doc__ == before


def test_a_class_without_a_docstring_stays_without():
    class Silent(Base):
        def __init__(self, depth: int = 3):
            self.depth = depth

    complete_docstring(Silent)
    assert Silent.__doc__ is None


def test_a_class_of_one_sentence_gets_its_sections():
    class Short(Base):
        """One sentence."""

        def __init__(self, depth: int = 3):
            self.depth = depth

    complete_docstring(Short)
    assert Short.__doc__.startswith(
        "One sentence.\n\nParameters\n----------\ndepth : int, default=3"
    )


def test_a_learner_describes_every_parameter_and_what_every_learner_has():
    described = parse_entries(Lasso.__doc__[Lasso.__doc__.index("Parameters\n") :])
    assert set(inspect.signature(Lasso).parameters) <= set(described)
    assert {"schema_", "n_features_in_", "n_rows_"} <= set(described)


def test_shared_texts_are_in_order():
    names = list(parse_entries(SHARED_PARAMETERS))
    assert names == sorted(names)
