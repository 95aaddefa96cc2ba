"""All of classical machine learning as a table of rows, and which of them work here today."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lyceum.catalog import syllabus_entries

__all__ = ["SECTIONS", "Row", "rows"]

Status = Literal["works", "partly", "not yet"]

SECTIONS = {
    1: "Data",
    2: "Bayesian decisions",
    3: "Generative classifiers",
    4: "Density estimation",
    5: "Bayesian networks",
    6: "Decision trees",
    7: "Linear models",
    8: "Neural networks",
    9: "Kernel machines",
    10: "Instance-based learning",
    11: "Ensembles",
    12: "Clustering",
    13: "Dimensionality reduction",
    14: "Evaluation",
    15: "Other paradigms",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the syllabus: its number and title, what it lacks, and the names that cover it.

    Attributes
    ----------
    number : str
        Its number, e.g. "6.7".
    title : str
        Its subject.
    lacks : str
        What is not implemented yet, empty if nothing is missing.
    where : tuple of str
        The public names that cover it.
    section : int
        The number of its section, a key of `SECTIONS`.
    status : {"works", "partly", "not yet"}
        Whether all of it is implemented.

    See Also
    --------
    rows : All rows.
    lyceum.catalog.syllabus_entries : The cataloged learners and functions behind one row.

    Examples
    --------
    >>> from lyceum.syllabus import SECTIONS, rows
    >>> row = next(row for row in rows() if row.number == "6.7")
    >>> row.title, SECTIONS[row.section], row.status
    ('Regression and model trees', 'Decision trees', 'works')
    """

    number: str
    title: str
    lacks: str
    where: tuple[str, ...]

    @property
    def section(self) -> int:
        return int(self.number.partition(".")[0])

    @property
    def status(self) -> Status:
        if not self.where:
            return "not yet"
        if self.lacks:
            return "partly"
        return "works"


# what a covered row still lacks, by its number; empty since all of them work
_LACKS: dict[str, str] = {}
_TITLES = {
    "1.1": "Column kinds, inferred or declared",
    "1.2": "Normalization and one-of-C coding",
    "1.3": "Missing values, five ways",
    "1.4": "Sample statistics",
    "1.5": "Splits of the rows",
    "2.1": "Sum rule, product rule, Bayes' theorem on tables",
    "2.2": "Loss matrices and minimum risk",
    "2.3": "Doubt: rejecting at a cost",
    "2.4": "Bayes optimal classifier and Bayes error",
    "2.5": "Class priors: frequencies, Laplace, Dirichlet",
    "2.6": "Costs of errors and the best threshold",
    "3.1": "Naive Bayes over mixed columns",
    "3.2": "Estimates of categorical conditionals",
    "3.3": "Gaussian discriminants",
    "3.4": "Regularized discriminant analysis",
    "3.5": "Recursive estimation, equal to the batch",
    "3.6": "Bayesian learning of a Gaussian, sensor fusion",
    "4.1": "Histogram densities",
    "4.2": "Parzen windows and smooth kernels",
    "4.3": "Bandwidths",
    "4.4": "Nearest-neighbor density",
    "4.5": "Parzen classifier",
    "4.6": "Mixtures as densities",
    "5.1": "Directed graphs with tables, BIF files",
    "5.2": "Parameters from complete and incomplete data",
    "5.3": "Structure learning",
    "5.4": "Exact inference",
    "5.5": "d-separation, explained",
    "5.6": "Approximate inference",
    "6.1": "Hunt, ID3, C4.5, CART",
    "6.2": "Kinds of splits",
    "6.3": "Split criteria",
    "6.4": "Empty branches and missing values",
    "6.5": "Pre-pruning",
    "6.6": "Post-pruning",
    "6.7": "Regression and model trees",
    "6.8": "Trees as rules, text and drawings",
    "7.1": "Least-squares regression",
    "7.2": "Ridge, lasso, elastic net",
    "7.3": "Basis functions",
    "7.4": "Logistic regression",
    "7.5": "Many classes by a separable bound",
    "7.6": "Laplace posterior of the weights",
    "7.7": "Perceptron",
    "7.8": "Margin losses",
    "8.1": "Feed-forward networks and backpropagation",
    "8.2": "Integration and activation functions",
    "8.3": "Against overfitting; output codes; training curves",
    "9.1": "Kernels, their algebra and Mercer's condition",
    "9.2": "Perceptron in dual form; Lagrange multipliers and KKT conditions",
    "9.3": "Support vector machines",
    "9.4": "Support vector and kernel ridge regression, kernel PCA",
    "9.5": "Choosing the width of a kernel",
    "9.6": "Several classes from binary machines",
    "10.1": "k nearest neighbors under many distances",
    "10.2": "Weighted votes",
    "10.3": "Choosing k",
    "10.4": "Attribute weights and learned metrics",
    "10.5": "Nearest centroids",
    "10.6": "Locally weighted regression",
    "10.7": "Radial basis function networks",
    "10.8": "Growing and condensing the stored rows",
    "11.1": "The error of a vote",
    "11.2": "Rules of fusion",
    "11.3": "Bagging, forests, random subspaces",
    "11.4": "AdaBoost and gradient boosting",
    "11.5": "Stacking",
    "11.6": "Cascades and mixtures of experts",
    "11.7": "Diversity, and pruning a committee",
    "12.1": "k-means",
    "12.2": "k-medoids",
    "12.3": "AgglomerativeClustering and divisive clustering",
    "12.4": "Gaussian mixtures by EM",
    "12.5": "Validity of a clustering",
    "12.6": "Images, visual words, texts",
    "13.1": "Principal components",
    "13.2": "Multidimensional scaling, Fisher's projection",
    "13.3": "Subset selection",
    "14.1": "Confusion matrices",
    "14.2": "Binary and per-class measures",
    "14.3": "ROC and the areas under it",
    "14.4": "Measures of regression",
    "14.5": "Resampling",
    "14.6": "Comparing learners",
    "14.7": "How sure an error rate is",
    "14.8": "Bias, variance and learning curves",
    "15.1": "Semi-supervised learning",
    "15.2": "Active learning",
    "15.3": "Transfer between domains",
    "15.4": "Anomaly detection",
    "15.5": "Reinforcement learning",
}


def rows() -> tuple[Row, ...]:
    """Every row of the syllabus with its state.

    >>> row = next(row for row in rows() if row.number == "3.1")
    >>> row.status, row.lacks, row.where
    ('works', '', ('lyceum.bayes.NaiveBayes',))
    """
    every = []
    for number, title in _TITLES.items():
        entries = syllabus_entries(number)
        where = tuple(f"{entry.package}.{entry.name}" for entry in entries)
        every.append(Row(number, title, _LACKS.get(number, ""), where))
    return tuple(every)
