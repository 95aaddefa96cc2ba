from lyceum.workflows.asking.ask import (
    ModelAnswer as ModelAnswer,
    ask_model as ask_model,
)
from lyceum.workflows.asking.askable_model import AskableModel as AskableModel
from lyceum.workflows.asking.smallest_change import SmallestChange as SmallestChange
from lyceum.workflows.compare import (
    ModelComparison as ModelComparison,
    PairedTest as PairedTest,
    compare_models as compare_models,
)
from lyceum.workflows.costs import set_costs as set_costs
from lyceum.workflows.evaluate import (
    Evaluation as Evaluation,
    MetricValue as MetricValue,
    evaluate_model as evaluate_model,
)
from lyceum.workflows.explain import (
    RowExplanation as RowExplanation,
    explain_rows as explain_rows,
)
from lyceum.workflows.fit import fit_file as fit_file
from lyceum.workflows.fitted_model import FittedModel as FittedModel
from lyceum.workflows.label import Labeled as Labeled, label_file as label_file
from lyceum.workflows.networks.learn import (
    LearnedNetwork as LearnedNetwork,
    learn_network as learn_network,
)
from lyceum.workflows.networks.query import (
    check_independence as check_independence,
    query_network as query_network,
    read_network as read_network,
)
from lyceum.workflows.predict import (
    Predicted as Predicted,
    predict_file as predict_file,
)
from lyceum.workflows.profile import (
    TrainingProfile as TrainingProfile,
    keep_profile as keep_profile,
)
from lyceum.workflows.reduce import Reduction as Reduction, reduce_table as reduce_table
from lyceum.workflows.repair import Repaired as Repaired, repair_table as repair_table
from lyceum.workflows.segment import (
    Segmentation as Segmentation,
    VisualWords as VisualWords,
    segment_image as segment_image,
    visual_words as visual_words,
)
from lyceum.workflows.uninformative import (
    uninformative_columns as uninformative_columns,
)
