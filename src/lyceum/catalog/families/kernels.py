"""Kernel machines."""

from lyceum.catalog.entry import Entry, Item

_KERNELS = (
    "DistanceKernel",
    "FunctionKernel",
    "LinearKernel",
    "PolynomialKernel",
    "PrecomputedKernel",
    "RBFKernel",
    "SigmoidKernel",
    "as_kernel",
    "is_mercer",
)

ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="KernelRidge",
        task="regression",
        about=(
            "Ridge regression in the feature space of a kernel; leave-one-out errors in closed"
            " form."
        ),
        cost="n²·(d + n/3) to fit, n·d per prediction; n² numbers of four bytes held",
        syllabus=("9.4",),
        space={"alpha": (1e-3, 1e1, "log"), "gamma": (1e-3, 1.0, "log")},
        study_rows=5_000,
        study_settings={"kernel": "rbf", "gamma": "scale", "fit_intercept": True},
        promise=0.5,
    ),
    Entry(
        name="KernelPerceptron",
        task="classification",
        about="The perceptron in dual form, with any kernel: counts mistakes per row.",
        cost="n·d per mistake",
        syllabus=("9.2",),
        space={"gamma": (1e-3, 1e1, "log")},
        in_study="never",
    ),
    Entry(
        name="KernelPCA",
        task="reduction",
        about="Directions of largest variance in the feature space of a kernel.",
        cost="n²·(d + components) for few components, n³ for all; n² numbers held",
        syllabus=("9.4",),
        space={"n_components": [2, 5, 10], "gamma": (1e-3, 1e1, "log")},
        in_study="never",
    ),
    Entry(
        name="Nystroem",
        task="reduction",
        about="Features of any kernel from a sample of the rows, for linear machines behind it.",
        cost="m³ to fit, m·(d + m) per row, for m rows drawn",
        syllabus=("9.4",),
        space={"n_components": [50, 100, 300], "gamma": (1e-3, 1e1, "log")},
        in_study="never",
    ),
    Entry(
        name="RBFSampler",
        task="reduction",
        about="Features of the RBF kernel from random waves, for linear machines behind it.",
        cost="d per row and feature",
        syllabus=("9.4",),
        space={"n_components": [100, 200, 600], "gamma": (1e-3, 1e1, "log")},
        in_study="never",
    ),
    Entry(
        name="LinearSVC",
        task="classification",
        about="Linear support vector machines for many rows: hinge or squared hinge, L2 or L1.",
        cost="n·d² per pass up to 1,000 columns, else n·d",
        syllabus=("9.3",),
        space={"C": (1e-4, 1e2, "log")},
        in_study="never",
    ),
    Entry(
        name="SVC",
        task="classification",
        about=(
            "Support vector classification with any kernel: hard and soft margins, slacks, KKT"
            " residuals."
        ),
        cost="n · support vectors · d to fit, support vectors · d per row to predict",
        syllabus=("9.3", "9.5"),
        space={"C": (1e-1, 1e2, "log"), "gamma": (1e-3, 1.0, "log")},
        study_rows=10_000,
        # 45,000 machines of 300 classes take minutes
        study_classes=50,
        study_settings={"probability": True},
        promise=0.55,
    ),
    Entry(
        name="SVR",
        task="regression",
        about="Support vector regression with any kernel: errors within epsilon cost nothing.",
        cost="n · support vectors · d to fit, support vectors · d per row to predict",
        syllabus=("9.4",),
        space={
            "C": (1e-1, 1e3, "log"),
            "gamma": (1e-3, 1.0, "log"),
            "epsilon": (1e-3, 1.0, "log"),
        },
        in_study="never",
    ),
)

ITEMS: tuple[Item, ...] = (
    *(Item(name, syllabus=("9.1",)) for name in _KERNELS),
    Item("closest_sigma", ("9.5",)),
    Item("median_sigma", ("9.5",)),
    Item("nearest_hull_points", ("9.3",)),
    Item("constrained_optima", ("9.2",), package="lyceum.solvers"),
)
