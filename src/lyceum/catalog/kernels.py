"""Kernel machines."""

from lyceum.catalog._entry import Entry, Item

__all__ = ["ENTRIES", "ITEMS"]

ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="KernelRidge",
        package="lyceum.kernels",
        task="regression",
        about="Ridge regression in the feature space of a kernel; leave-one-out errors in closed form.",
        sparse=True,
        scales="in memory",
        cost="n²·(d + n/3) to fit, n·d per prediction; n² numbers of four bytes held",
        syllabus=("9.4",),
        space={"alpha": (1e-4, 1e2, "log"), "gamma": (1e-3, 1e1, "log")},
        needs_scaling=True,
        in_study="never",
    ),
    Entry(
        name="KernelPerceptron",
        package="lyceum.kernels",
        task="classification",
        about="The perceptron in dual form, with any kernel: counts mistakes per row.",
        sparse=True,
        scales="in memory",
        cost="n·d per mistake",
        syllabus=("9.2",),
        space={"gamma": (1e-3, 1e1, "log")},
        needs_scaling=True,
        in_study="never",
    ),
    Entry(
        name="KernelPCA",
        package="lyceum.kernels",
        task="reduction",
        about="Directions of largest variance in the feature space of a kernel.",
        sparse=True,
        scales="in memory",
        cost="n²·(d + components) for few components, n³ for all; n² numbers held",
        syllabus=("9.4",),
        space={"n_components": [2, 5, 10], "gamma": (1e-3, 1e1, "log")},
        needs_scaling=True,
        in_study="never",
    ),
    Entry(
        name="Nystroem",
        package="lyceum.kernels",
        task="reduction",
        about="Features of any kernel from a sample of the rows, for linear machines behind it.",
        sparse=True,
        scales="one pass",
        cost="m³ to fit, m·(d + m) per row, for m rows drawn",
        syllabus=("9.4",),
        space={"n_components": [50, 100, 300], "gamma": (1e-3, 1e1, "log")},
        needs_scaling=True,
        in_study="never",
    ),
    Entry(
        name="RandomFourierFeatures",
        package="lyceum.kernels",
        task="reduction",
        about="Features of the RBF kernel from random waves, for linear machines behind it.",
        sparse=True,
        scales="one pass",
        cost="d per row and feature",
        syllabus=("9.4",),
        space={"n_waves": [50, 100, 300], "gamma": (1e-3, 1e1, "log")},
        needs_scaling=True,
        in_study="never",
    ),
)

ITEMS: tuple[Item, ...] = (Item("constrained", package="lyceum.solvers", syllabus=("9.2",)),)
