"""Pictures."""

from lyceum.catalog.entry import Item

__all__ = ["ITEMS"]

ITEMS = (
    Item("feature_lift", package="lyceum.plot", syllabus=("9.1",)),
    Item("hinge_and_logistic", package="lyceum.plot", syllabus=("9.3",)),
    Item("margin", package="lyceum.plot", syllabus=("9.3",)),
    Item("margin_losses", package="lyceum.plot", syllabus=("7.8",)),
    Item("setting_grid", package="lyceum.plot", syllabus=("9.5",)),
    Item("support_faces", package="lyceum.plot", syllabus=("9.3",)),
    Item("bayes_net", package="lyceum.plot", syllabus=("5.1", "5.4")),
    Item("junction_tree", package="lyceum.plot", syllabus=("5.4",)),
    Item("moral_graph", package="lyceum.plot", syllabus=("5.4",)),
    Item("density_errors", package="lyceum.plot", syllabus=("4.3",)),
    Item("dendrogram", package="lyceum.plot", syllabus=("12.3",)),
    Item("elbow", package="lyceum.plot", syllabus=("12.5",)),
    Item("kmeans_steps", package="lyceum.plot", syllabus=("12.1",)),
    Item("silhouette", package="lyceum.plot", syllabus=("12.5",)),
    Item("cobweb", package="lyceum.plot", syllabus=("14.1",)),
    Item("constrained_optima", package="lyceum.plot", syllabus=("9.2",)),
    Item("cost_complexity", package="lyceum.plot", syllabus=("6.6",)),
    Item("label_curves", package="lyceum.plot", syllabus=("15.2",)),
    Item("policy", package="lyceum.plot", syllabus=("15.5",)),
    Item("stages", package="lyceum.plot", syllabus=("11.6",)),
    Item("biplot", package="lyceum.plot", syllabus=("13.1",)),
    Item("em_steps", package="lyceum.plot", syllabus=("12.4",)),
    Item("mixture", package="lyceum.plot", syllabus=("12.4",)),
    Item("pca_beside_fisher", package="lyceum.plot", syllabus=("13.2",)),
    Item("scree", package="lyceum.plot", syllabus=("13.1",)),
    Item("laplace_contours", package="lyceum.plot", syllabus=("7.6",)),
    Item("local_fit", package="lyceum.plot", syllabus=("10.6",)),
    Item("neighbor_regions", package="lyceum.plot", syllabus=("10.3",)),
    Item("radial_units", package="lyceum.plot", syllabus=("10.7",)),
    Item("training_curves", package="lyceum.plot", syllabus=("8.3",)),
    Item("tree", package="lyceum.plot", syllabus=("6.8",)),
    Item("voronoi", package="lyceum.plot", syllabus=("10.8",)),
)
