"""A Bayesian network as a classifier."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from lyceum._core.base import CATEGORICAL_FEATURES, Learner, PosteriorClassifier
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Schema, Step
from lyceum._core.probability import AGAINST_RUNNER_UP, find_labels, runner_up_odds
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.bayesnets.class_posterior import ClassPosterior, block_codes
from lyceum.bayesnets.net import BayesNet
from lyceum.bayesnets.nodes import TableNode
from lyceum.bayesnets.parameters.fit import estimate_table, pseudo_count
from lyceum.bayesnets.structure.coded_data import (
    CodedData,
    NamedTarget,
    ScoreRule,
    StreamedData,
    structure_data,
)
from lyceum.bayesnets.structure.search import EdgeRules, StructureSearch
from lyceum.bayesnets.structure.trees import column_index, tree_augmented
from lyceum.errors import ModelFileError, SchemaError, SettingError
from lyceum.prepare import KBinsDiscretizer
from lyceum.report import Explanation, Summary, Table


class BayesNetClassifier(PosteriorClassifier, Learner):
    """Classify by a Bayesian network of the class and the columns: P(c | x) ∝ Π P(node | parents).

    The network is naive (every column depends on the class alone), a tree-augmented naive Bayes
    (TAN: on one other column too), learned by search, or given. Continuous columns are cut into
    intervals first, by default where that gives most information on the classes. Missing cells and
    new categories are summed out exactly.

    Parameters
    ----------
    structure : {"tan", "naive", "learned"}, BayesNet or dict of name to parents, default="tan"
        "learned" starts from the naive network and climbs by `structure_score`; no edge enters the
        class. A given network, or dict, has a node per column and one named as the target; what it
        holds in its tables is learned anew. Columns that it does not name do not matter.
    tree_root : str, optional
        For "tan": the column from which the edges of the tree point away; by default the first.
        The predictions differ only as far as `estimate` smooths the tables.
    estimate : {"laplace", "raw", "dirichlet"}, default="laplace"
        How tables are estimated from counts, see `learn_parameters`.
    alpha : float, default=1.0
        What "laplace" adds to every count.
    equivalent_sample_size : float, default=10.0
        Of "dirichlet", and of the score BDeu.
    structure_score : {"bic", "aic", "bdeu", "k2"}, default="bic"
        What a learned structure maximizes.
    max_parents : int, default=3
        The most parents of a column in a learned structure, the class among them.
    discretize : {"auto", "mdl", "quantile", "uniform"}, default="auto"
        How continuous columns are cut; "auto" is "mdl". See `lyceum.prepare.KBinsDiscretizer`.
    n_bins : int, default=5
        Intervals for "frequency" and "width".
    cuts : dict of name to numbers, or numbers for all columns, default=None
        Given cuts.

    Attributes
    ----------
    net_ : BayesNet
        The network, ready for any other query too. The class is named as the target.
    discretizer_ : KBinsDiscretizer
        The cuts of the continuous columns.
    structure_score_ : float
        The score of the structure on the rows.
    history_ : list of float
        The score after every edge of a learned structure.

    See Also
    --------
    lyceum.bayes.NaiveBayes : densities instead of intervals.
    learn_structure : networks that are not about one class.

    References
    ----------
    N. Friedman, D. Geiger and M. Goldszmidt, "Bayesian network classifiers", Machine Learning 29,
    1997.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.bayesnets import BayesNetClassifier
    >>> model = BayesNetClassifier().fit(datasets.load("weather"))
    >>> model.net_.children("play")
    ['outlook', 'temperature', 'humidity', 'windy']
    """

    _coding = "codes"
    _takes_missing = True
    history_axes: ClassVar[tuple[str, str]] = ("edge", "score")
    discretizer_: KBinsDiscretizer
    history_: list[float]

    _parameter_constraints: ClassVar[dict] = {
        "structure": [StrOptions({"tan", "naive", "learned"}), BayesNet, dict],
        "tree_root": [str, None],
        "estimate": [StrOptions({"laplace", "raw", "dirichlet"})],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "equivalent_sample_size": [Interval(Real, 0, None, closed="neither")],
        "structure_score": [StrOptions({"bic", "aic", "bdeu", "k2"})],
        "max_parents": [Interval(Integral, 1, None, closed="left")],
        "discretize": [StrOptions({"auto", "mdl", "quantile", "uniform"})],
        "n_bins": [Interval(Integral, 2, None, closed="left")],
        "cuts": [dict, "array-like", None],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        *,
        structure: Any = "tan",
        tree_root: str | None = None,
        estimate: str = "laplace",
        alpha: float = 1.0,
        equivalent_sample_size: float = 10.0,
        structure_score: str = "bic",
        max_parents: int = 3,
        discretize: str = "auto",
        n_bins: int = 5,
        cuts: Any = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.structure = structure
        self.tree_root = tree_root
        self.estimate = estimate
        self.alpha = alpha
        self.equivalent_sample_size = equivalent_sample_size
        self.structure_score = structure_score
        self.max_parents = max_parents
        self.discretize = discretize
        self.n_bins = n_bins
        self.cuts = cuts
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn the cuts, the structure and the tables.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            How often every row counts.
        """
        if hasattr(self, "discretizer_"):
            del self.discretizer_
        rows = self._rows(X, y, sample_weight)
        cutter = KBinsDiscretizer(
            n_bins=self.n_bins,
            encode="categories",
            strategy=self.discretize,  # type: ignore[arg-type]
            cuts=self.cuts,
        )
        self.discretizer_ = cutter.fit(rows)
        names = self._node_names()
        cut_rows = rows.then(self.discretizer_.as_step()).then(NamedTarget(names[-1]))
        data = structure_data(cut_rows, type(self).__name__)
        rule = ScoreRule(self.structure_score, data.weight, self.equivalent_sample_size)
        parents = self._structure(data, rule, names)
        families = [(v, sorted(of)) for v, of in enumerate(parents)]
        self.net_ = self._network(data, families, names)
        self.structure_score_ = float(sum(data.families(families, rule)))
        return self

    def _network(
        self,
        data: CodedData | StreamedData,
        families: list[tuple[int, list[int]]],
        names: list[str],
    ) -> BayesNet:
        """The tables of every column, or the class, and its parents."""
        every_count = data.tables([[*of, v] for v, of in families])
        nodes = []
        for (v, of), counts, states in zip(families, every_count, data.states.values()):
            added = pseudo_count(
                self.estimate, self.alpha, self.equivalent_sample_size, counts.size
            )
            table = estimate_table(counts, added)
            parents = tuple(names[u] for u in of)
            nodes.append(TableNode(names[v], tuple(states.tolist()), parents, table))
        return BayesNet(nodes)

    def _node_names(self) -> list[str]:
        """The columns, and the target under a name of its own."""
        target = self.schema_.target_name
        while target in self.schema_.names:
            target += " (class)"
        return [*self.schema_.names, target]

    def _structure(
        self, data: CodedData | StreamedData, rule: ScoreRule, names: list[str]
    ) -> list[set[int]]:
        # the class is the last of d + 1 variables
        d = len(names) - 1
        naive: list[set[int]] = [{d} for _ in range(d)]
        naive.append(set())
        if hasattr(self, "history_"):
            del self.history_
        if isinstance(self.structure, Mapping | BayesNet):
            return _given_structure(self.structure, names)
        if self.structure == "naive":
            return naive
        if self.structure == "tan":
            return tree_augmented(data, d, column_index(names, self.tree_root, d))
        # no edge enters the class
        forbidden = np.zeros((d + 1, d + 1), dtype=bool)
        forbidden[:, d] = True
        # Scores of families are comparable only on the same rows. But where few rows are complete,
        # too much would be lost, and families are scored on the rows that each has.
        complete_data = data.complete()
        if complete_data.weight >= 0.5 * data.weight:
            data = complete_data
            rule = ScoreRule(
                rule.name, complete_data.weight, rule.equivalent_sample_size
            )
        edge_rules = EdgeRules(np.zeros_like(forbidden), forbidden, self.max_parents)
        search = StructureSearch(data, rule, edge_rules)
        parents, _, self.history_ = search.climb(naive)
        return parents

    def _steps(self) -> list[Step]:
        steps = super()._steps()
        if hasattr(self, "discretizer_"):
            return [*steps, self.discretizer_.as_step()]
        return steps

    # -- predict -----------------------------------------------------------------------

    def _posterior(self) -> ClassPosterior:
        return ClassPosterior(self.net_, self._node_names()[-1])

    def _log_joint(self, block: Block) -> np.ndarray:
        return self._posterior().log_joint(block_codes(block))

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """The strength of the evidence of every column for the class against the runner-up, in
        log-odds.

        Columns are taken in the order of the network, parents first: a column adds what it tells
        beyond those before it, log P(x_j | x before, c), in a naive or tree-augmented network log
        P(x_j | its parents). Missing cells add nothing. Base and contributions sum to the log of
        the ratio of the two posteriors.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        return self._explain(X, self._column_odds, AGAINST_RUNNER_UP)

    def _column_odds(self, block: Block) -> np.ndarray:
        posterior = self._posterior()
        # (n, K, d + 1), columns in the order of the network
        chain = posterior.chain(block_codes(block))
        # Column j adds log P(x₁ … x_j, c) - log P(x₁ … x_(j-1), c); nothing where the columns
        # before it have excluded the class already (-inf on both sides).
        before = chain[:, :, :-1]
        terms = np.subtract(
            chain[:, :, 1:],
            before,
            out=np.zeros_like(before),
            where=np.isfinite(before),
        )
        column_terms = terms[:, :, posterior.order_indices()]
        return runner_up_odds(column_terms, posterior.log_prior())

    def complexity(self) -> int:
        """The free numbers of all tables."""
        return self.net_.n_parameters

    def _n_parameters(self) -> int:
        return self.net_.n_parameters

    def summary(self) -> Summary:
        """The network, and the information of every column alone about the class."""
        head = super().summary()
        name = self._node_names()[-1]
        posterior = self._posterior()
        facts = {
            "structure": self.structure if isinstance(self.structure, str) else "given",
            "edges": len(self.net_.edges),
            "parameters": self.net_.n_parameters,
            self.structure_score: self.structure_score_,
            "class": name,
        }
        rows = [
            (node.name, len(node.states), ", ".join(node.parents), float(bits))  # type: ignore[union-attr]
            for node, bits in zip(self.net_.nodes, posterior.information())
            if node.name != name
        ]
        rows.sort(key=lambda row: -row[3])
        table = Table(
            "Columns", ("column", "states", "parents", "bits about the class"), rows
        )
        return Summary(head.title, {**head.facts, **facts}, [table])

    # -- model files -------------------------------------------------------------------

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), BayesNet, TableNode)

    def _check_model(self) -> None:
        super()._check_model()
        if not hasattr(self, "net_"):
            return
        if not self._net_fits():
            raise ModelFileError(
                "holds a BayesNetClassifier whose network does not fit its columns"
            )

    def _net_fits(self) -> bool:
        """Whether the network has the columns after the cuts, and the class, with their states."""
        names = self._node_names()
        net = self.net_
        if not isinstance(net, BayesNet) or not isinstance(
            self.discretizer_, KBinsDiscretizer
        ):
            return False
        if list(net.names) != names or net.gaussian_names:
            return False
        if len(net.states(names[-1])) != len(self.classes_):
            return False
        columns = self.discretizer_.as_step().schema(Schema(self.schema_.columns))
        return all(
            column.categories is not None
            and len(net.states(column.name)) == max(len(column.categories), 1)
            for column in columns
        )


def _given_structure(structure: Any, names: list[str]) -> list[set[int]]:
    """The parents of every column and of the class in a given network; columns it lacks stand
    alone."""
    parents = structure.parents if isinstance(structure, BayesNet) else structure
    for name, of in parents.items():
        if isinstance(of, str) or not isinstance(of, Collection):
            raise SettingError(
                f"the given structure must have a list of parents for {name!r}, got {of!r}"
            )
    target = names[-1]
    is_parent = any(target in of for of in parents.values())
    if target not in parents and not is_parent:
        raise SchemaError(
            f"the given structure has no node for the class, which is named {target!r}"
        )
    parent_codes: list[set[int]] = [set() for _ in names]
    for name, of in parents.items():
        (v,) = find_labels([name], names, "the given structure: the node")
        where = f"the given structure: a parent of {name!r},"
        parent_codes[v] = set(find_labels(list(of), names, where))
        if v in parent_codes[v]:
            raise SettingError(f"the given structure has {name!r} as its own parent")
    return parent_codes
