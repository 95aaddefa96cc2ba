"""structure_score: how well rows support the graph of a network."""

from __future__ import annotations

from functools import partial

import numpy as np

from lyceum._core.types import Data
from lyceum.bayesnets.net import BayesNet
from lyceum.bayesnets.parameters.fit import aligned_counts, check_columns
from lyceum.bayesnets.row_codes import RowCodes, network_rows
from lyceum.bayesnets.structure.coded_data import ScoreRule, table_score
from lyceum.errors import DataError


def structure_score(
    net: BayesNet,
    data: Data,
    score: str = "bic",
    *,
    equivalent_sample_size: float = 10.0,
    pseudo_count: float = 1.0,
) -> float:
    """The score of the graph of a network on rows; larger is better.

    "bic" and "aic" are the log likelihood less ½ ln(rows) or 1 per parameter. "bdeu", "bd" and "k2"
    are log P(rows | graph), the sum of ln Γ(Σ a) / Γ(Σ a + N_j) + Σ ln Γ(a + N_jk) / Γ(a) over all
    rows j of all tables, with prior counts a in every cell: equivalent_sample_size / cells,
    `pseudo_count`, or 1.

    Parameters
    ----------
    net : BayesNet
        All of whose nodes are discrete; what its tables hold is not used.
    data : frame, path or `scan(...)`
        Columns go by the names of the variables. A family is counted from the rows that have all of
        its variables, and scaled to the weight of all rows.
    score : {"bic", "aic", "bdeu", "bd", "k2"}, default="bic"
    equivalent_sample_size : float, default=10.0
        Of "bdeu".
    pseudo_count : float, default=1.0
        Of "bd".

    Returns
    -------
    float

    See Also
    --------
    learn_structure : Searches the graph of the best score.

    References
    ----------
    G. F. Cooper and E. Herskovits, "A Bayesian method for the induction of probabilistic networks
    from data", Machine Learning 9, 1992. D. Heckerman, D. Geiger and D. M. Chickering, "Learning
    Bayesian networks", Machine Learning 20, 1995.

    Examples
    --------
    The ten cases of Cooper and Herskovits: P(rows | x1 → x2 → x3) = 2.23e-9.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from lyceum.bayesnets import BayesNet, TableNode, structure_score
    >>> rows = pd.DataFrame({"x1": list("1101001010"), "x2": list("0101011010"),
    ...                      "x3": list("0111011010")})
    >>> chain = BayesNet([TableNode("x1", ["0", "1"]), TableNode("x2", ["0", "1"], ["x1"]),
    ...                   TableNode("x3", ["0", "1"], ["x2"])])
    >>> f"{np.exp(structure_score(chain, rows, 'k2')):.3g}"
    '2.23e-09'
    """
    if net.gaussian_names:
        raise DataError(
            f"scores are of tables, but {net.gaussian_names[0]!r} is Gaussian: leave it out, or"
            " discretize it (lyceum.prepare.KBinsDiscretizer)"
        )
    rows = network_rows(net, data)
    check_columns(net, rows)
    families = [[*node.parents, node.name] for node in net.nodes]
    counts = rows.reduce(
        partial(aligned_counts, sets=[[], *families], codes=RowCodes.of(net))
    )
    weight = float(counts.table())
    rule = ScoreRule(score, weight, equivalent_sample_size, pseudo_count)
    total = 0.0
    for family in families:
        table = np.asarray(counts.table(*family))
        total += table_score(table.reshape(-1, table.shape[-1]), weight, rule)
    return total
