"""Pictures."""

from lyceum.catalog._entry import Item

__all__ = ["ITEMS"]

ITEMS = (
    Item("cobweb", package="lyceum.plot", syllabus=("14.1",)),
<<<<<<< HEAD
    Item("constrained", package="lyceum.plot", syllabus=("9.2",)),
=======
    Item("cost_complexity", package="lyceum.plot", syllabus=("6.6",)),
>>>>>>> 5fc46c5 (Trees: pruning by loss after plain growth, by error in CART, C4.5's collapse and J48's bound, own validation rows, Hunt's default class, a picture of the path)
    Item("laplace_contours", package="lyceum.plot", syllabus=("7.6",)),
    Item("training_curves", package="lyceum.plot", syllabus=("8.3",)),
    Item("tree", package="lyceum.plot", syllabus=("6.8",)),
)
