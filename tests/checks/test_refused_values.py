"""Values of networks, kernels and priors that make no sense are refused in a sentence."""

import numpy as np
import pandas as pd
import pytest

from lyceum.bayes import NormalMean
from lyceum.bayesnets import (
    BayesNet,
    GaussianNode,
    TableNode,
    learn_structure,
    moral_graph,
    topological_order,
)
from lyceum.errors import LyceumError
from lyceum.kernels import (
    FunctionKernel,
    LinearKernel,
    ProductKernel,
    ScaledKernel,
    SumKernel,
    closest_sigma,
    is_mercer,
)
from lyceum.linear import margin_loss, simple_regression
from lyceum.statistics import independence_test

COIN = ["heads", "tails"]
NET = BayesNet(
    [
        TableNode("a", COIN, table=[0.4, 0.6]),
        TableNode("b", COIN, ["a"], np.full((2, 2), 0.5)),
    ]
)
TABLE = pd.DataFrame({"a": COIN * 4, "b": COIN * 4})
X = np.eye(3)

REFUSED = {
    "a table of text": (
        lambda: BayesNet([TableNode("a", COIN, table=["x", "y"])]),
        "table of 'a' must be",
    ),
    "rows of text": (
        lambda: BayesNet([TableNode("a", COIN, table={(): "x"})]),
        "table of 'a'",
    ),
    "text as a mean": (
        lambda: BayesNet([GaussianNode("g", intercept="x")]),
        "intercept of 'g' must be",
    ),
    "a missing variance": (
        lambda: BayesNet([GaussianNode("g", variance=np.nan)]),
        "'g' must be finite",
    ),
    "evidence of text": (lambda: NET.posterior("a", "b"), "evidence must be a dict"),
    "soft text": (
        lambda: NET.posterior("a", soft={"b": ["x", "y"]}),
        "soft evidence on 'b' must be",
    ),
    "edges of text": (
        lambda: learn_structure(TABLE, required="ab"),
        r"required must be pairs \(from, to\)",
    ),
    "a test that is none": (
        lambda: independence_test(np.ones((2, 2)), "g3"),
        "choose from 'g2', 'chi2'",
    ),
    "negative counts": (
        lambda: independence_test(np.array([[-1.0, 2.0], [3.0, 4.0]])),
        "not negative",
    ),
    "counts of one axis": (lambda: independence_test(np.ones(3)), "two axes or more"),
    "a kernel without rows": (lambda: is_mercer("rbf"), "give X too"),
    "a kernel of text": (
        lambda: is_mercer(lambda x, y: "t", X),
        "must give one number",
    ),
    "no function": (lambda: FunctionKernel(3), "cannot be called"),
    "a sum with a number": (
        lambda: SumKernel(LinearKernel(), 3),
        "SumKernel is made of kernels, but 3 is none",
    ),
    "a product with text": (
        lambda: ProductKernel("rbf", LinearKernel()),
        "ProductKernel is made of kernels",
    ),
    "a multiple of text": (
        lambda: ScaledKernel(2.0, "rbf"),
        "ScaledKernel is made of kernels",
    ),
    "too few classes": (
        lambda: closest_sigma(X, [0, 1]),
        r"shape \(2,\) for 3 rows of X",
    ),
    "margins of text": (lambda: margin_loss(["a"]), "margin must be"),
    "a column of text": (lambda: simple_regression(["a", "b"], [1, 2]), "x must be"),
    "a prior of text": (lambda: NormalMean("a"), "mean must be"),
    "rows of a prior": (lambda: NormalMean().update(["a"]), "x must be"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused(case):
    make, words = REFUSED[case]
    with pytest.raises(LyceumError, match=words):
        make()


def test_a_name_that_is_only_a_parent_is_a_node():
    parents = {"grass": ["rain", "sprinkler"]}
    assert topological_order(parents) == ["rain", "sprinkler", "grass"]
    assert moral_graph(parents)["rain"] == {"grass", "sprinkler"}


def test_likelihoods_by_state_are_put_in_order():
    one = NET.posterior("a", soft={"b": {"tails": 0.9, "heads": 0.1}})
    two = NET.posterior("a", soft={"b": [0.1, 0.9]})
    assert one.values.tolist() == two.values.tolist()
