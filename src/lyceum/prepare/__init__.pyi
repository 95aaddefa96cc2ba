from lyceum.prepare.base import Transformer as Transformer, schema_with_names as schema_with_names
from lyceum.prepare.datetime_encoder import DatetimeEncoder as DatetimeEncoder
from lyceum.prepare.drop_missing import DropMissing as DropMissing
from lyceum.prepare.iterative_imputer import IterativeImputer as IterativeImputer
from lyceum.prepare.k_bins_discretizer import (
    ColumnCuts as ColumnCuts,
    KBinsDiscretizer as KBinsDiscretizer,
)
from lyceum.prepare.knn_imputer import KNNImputer as KNNImputer
from lyceum.prepare.mdl_cuts import frequency_cuts as frequency_cuts
from lyceum.prepare.min_max_scaler import MinMaxScaler as MinMaxScaler
from lyceum.prepare.missing_category import MissingCategory as MissingCategory
from lyceum.prepare.one_hot_encoder import OneHotEncoder as OneHotEncoder
from lyceum.prepare.simple_imputer import SimpleImputer as SimpleImputer
from lyceum.prepare.standard_scaler import StandardScaler as StandardScaler
from lyceum.prepare.steps import as_floats as as_floats
from lyceum.prepare.text_vectorizer import TextVectorizer as TextVectorizer
