"""One text per shared parameter and attribute.

A class describes what is its own. Each parameter of its `__init__` that its docstring leaves out is
described by the nearest of its bases that has it in `_parameter_docs`, or by the table below; the
default stands in the signature and is added here. `_attribute_docs` of a base does the same for
attributes that all of its subclasses have.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from functools import cache

SHARED_PARAMETERS = """
attribute_costs : dict by column name, array of shape (n_features,) or None
    The cost c of testing a column; a split of score s is then compared by s²/c. A column that a
    dict does not name costs 1.
categorical_features : "from_dtype", True, mask, indices, names or None
    Which columns hold categories: those of a category or text type, all, or the ones given.
class_weight : None, "balanced" or dict
    Factors on the weights of the rows of each class; "balanced": total weight / (K · weight of the
    class).
coef0 : float
    The shift c of "poly" and "sigmoid". As in scikit-learn it is 0 in `SVC` and `SVR` and 1 in
    every other kernel learner and in the kernel objects.
degree : int
    The degree of "poly".
fit_intercept : bool
    Whether an intercept is fitted; it is not penalized.
max_depth : int or None
    The largest number of splits from the root to a leaf; None: no limit.
max_iter : int
    The largest number of iterations.
max_leaf_nodes : int or None
    The largest number of leaves, grown best first; None: no limit.
metric : str or Metric
    A metric of `lyceum.distances`, or its name; "precomputed": X holds the distances of all pairs
    of rows. "auto" is Gower's distance where columns hold categories or cells are missing, else
    Euclidean.
min_samples_leaf : int or float
    Rows that every child needs, or their share of all rows.
min_samples_split : int or float
    Rows that a node needs to be split, or their share of all rows.
min_weight_fraction_leaf : float
    The share of the total weight that every child needs.
n_jobs : int or None
    Threads at a time; None: as many as the process is set to, -1: one per processor. The result
    does not depend on it.
prior_alpha : float or array of shape (K,)
    α, the parameters of the Dirichlet prior, one for all classes or one per class.
priors : {"laplace", "uniform", "dirichlet_map", "dirichlet_mean"} or array of shape (K,)
    The class priors, from the weights n_k of the classes and their sum N. None: n_k / N.
    "laplace": (n_k + 1) / (N + K). "uniform": 1 / K. "dirichlet_map" and "dirichlet_mean": the mode
    and the mean under a Dirichlet prior with the parameters `prior_alpha`. An array: the priors
    themselves.
random_state : int, RandomState or None
    The seed of everything that is drawn at random; None draws one.
record : bool
    Whether to keep every step in `record_`.
verbose : int
    Whether to print the progress of `fit`: 1 in tenths, 2 every step.
warm_start : bool
    Whether `fit` starts from the result of the last `fit`.
"""

_HEAD = re.compile(r"^[A-Z][A-Za-z ]+\n-{3,}$", re.MULTILINE)
_ENTRY = re.compile(r"^(\*{0,2}\w[\w, *]*) : ", re.MULTILINE)


def complete_docstring(cls: type) -> None:
    """Put the shared texts of a class into its docstring."""
    if cls.__dict__.get("__doc__") is None:
        return
    text = inspect.cleandoc(cls.__doc__ or "")
    parameters = inspect.signature(cls).parameters
    missing = _missing_parameters(cls, text, parameters)
    text = _with_entries(text, "Parameters", missing, list(parameters))
    text = _with_entries(text, "Attributes", _missing_attributes(cls, text), [])
    cls.__doc__ = text


def _missing_parameters(
    cls: type, text: str, parameters: Mapping[str, inspect.Parameter]
) -> dict[str, str]:
    described = parse_entries(_section(text, "Parameters"))
    # the nearest base comes last, and wins
    shared = dict(parse_entries(SHARED_PARAMETERS))
    for base in reversed(cls.__mro__):
        unused = base.__dict__.get("_without_effect", {})
        shared |= {name: _unused_entry(name, why) for name, why in unused.items()}
        shared |= parse_entries(base.__dict__.get("_parameter_docs", ""))
    entries = {}
    for name, parameter in parameters.items():
        if name in described or name not in shared:
            continue
        head, _, body = shared[name].partition("\n")
        default = parameter.default
        if isinstance(default, str):
            head += f', default="{default}"'
        elif default is not inspect.Parameter.empty:
            head += f", default={default!r}"
        entries[name] = f"{head}\n{body}"
    return entries


def _unused_entry(name: str, why: str) -> str:
    return f"{name} : as in scikit-learn\n    Checked, and without effect here: {why}."


def _missing_attributes(cls: type, text: str) -> dict[str, str]:
    described = parse_entries(_section(text, "Attributes"))
    entries: dict[str, str] = {}
    for base in cls.__mro__:
        shared = parse_entries(base.__dict__.get("_attribute_docs", ""))
        for name, entry in shared.items():
            if name not in described:
                entries.setdefault(name, entry)
    return entries


@cache
def parse_entries(text: str) -> dict[str, str]:
    """The entries of a numpydoc section by name: "a, b : type" describes two names by one text."""
    text = inspect.cleandoc("\n" + text)
    starts = [*_ENTRY.finditer(text)]
    ends = [entry.start() for entry in starts[1:]] + [len(text)]
    entries = {}
    for start, end in zip(starts, ends):
        entry = text[start.start() : end].rstrip()
        for name in start[1].split(", "):
            entries[name.strip()] = entry
    return entries


def _section(text: str, title: str) -> str:
    """The lines of a section, without its head."""
    start = re.search(rf"^{title}\n-+\n", text, re.MULTILINE)
    if start is None:
        return ""
    following = _HEAD.search(text, start.end())
    end = following.start() if following else len(text)
    return text[start.end() : end]


def _with_entries(
    text: str, title: str, entries: dict[str, str], order: list[str]
) -> str:
    """The docstring with more entries in a section, in the order of the signature."""
    if not entries:
        return text
    section = _section(text, title)
    every = {**parse_entries(section), **entries}
    names = [name for name in order if name in every]
    names += [name for name in every if name not in names]
    body = "\n".join(dict.fromkeys(every[name] for name in names))
    if section:
        end = "\n\n" if "\n\n" in section else ""
        return text.replace(section, body + end, 1)
    # a section that is not there yet: parameters before all others, attributes after parameters
    head = f"{title}\n{'-' * len(title)}\n{body}\n\n"
    later = [
        start
        for start in _HEAD.finditer(text)
        if not start[0].startswith("Parameters\n")
    ]
    position = later[0].start() if later else len(text)
    if not later:
        head = f"\n\n{head.rstrip()}"
    return f"{text[:position]}{head}{text[position:]}"
