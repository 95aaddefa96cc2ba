from lyceum.plot.comparisons.importances import importances as importances
from lyceum.plot.comparisons.learning_curves import (
    density_errors as density_errors,
    learning_curve as learning_curve,
    staged_errors as staged_errors,
    validation_curve as validation_curve,
)
from lyceum.plot.comparisons.models import (
    bias_variance as bias_variance,
    comparison as comparison,
    cross_validation as cross_validation,
)
from lyceum.plot.constrained import constrained_optima as constrained_optima
from lyceum.plot.graphs.bayes_net import (
    bayes_net as bayes_net,
    junction_tree as junction_tree,
    moral_graph as moral_graph,
)
from lyceum.plot.graphs.cost_complexity import cost_complexity as cost_complexity
from lyceum.plot.graphs.layered_layout import (
    LayeredLayout as LayeredLayout,
    layered_layout as layered_layout,
)
from lyceum.plot.graphs.tree_drawing import tree as tree
from lyceum.plot.models.clusters import (
    dendrogram as dendrogram,
    elbow as elbow,
    kmeans_steps as kmeans_steps,
    silhouette as silhouette,
)
from lyceum.plot.models.density import (
    class_densities as class_densities,
    density as density,
    posterior_updating as posterior_updating,
    sensor_fusion as sensor_fusion,
    sensor_fusion_cases as sensor_fusion_cases,
)
from lyceum.plot.models.kernels import (
    feature_lift as feature_lift,
    hinge_and_logistic as hinge_and_logistic,
    hull_points as hull_points,
    margin as margin,
    setting_grid as setting_grid,
    support_faces as support_faces,
)
from lyceum.plot.models.linear import (
    laplace_contours as laplace_contours,
    margin_losses as margin_losses,
    posterior_contours as posterior_contours,
    regularization_path as regularization_path,
    residuals as residuals,
)
from lyceum.plot.models.mixtures import em_steps as em_steps, mixture as mixture
from lyceum.plot.models.neighbors import (
    local_fit as local_fit,
    neighbor_regions as neighbor_regions,
    radial_units as radial_units,
    voronoi as voronoi,
)
from lyceum.plot.models.neural import (
    network as network,
    training_curves as training_curves,
)
from lyceum.plot.models.paradigms import (
    label_curves as label_curves,
    policy as policy,
    stages as stages,
)
from lyceum.plot.models.reductions import (
    biplot as biplot,
    pca_beside_fisher as pca_beside_fisher,
    scree as scree,
)
from lyceum.plot.scores.class_rates import class_rates as class_rates
from lyceum.plot.scores.confusion import cobweb as cobweb, confusion as confusion
from lyceum.plot.scores.error_reject import error_reject as error_reject
from lyceum.plot.scores.score_curves import (
    calibration as calibration,
    cost_curve as cost_curve,
    precision_recall as precision_recall,
    roc as roc,
)
from lyceum.plot.step_pictures import steps as steps
