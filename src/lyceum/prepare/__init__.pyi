from lyceum.prepare.base import Transformer as Transformer, schema_with_names as schema_with_names
from lyceum.prepare.date_parts import DateParts as DateParts
from lyceum.prepare.discretize import CutColumns as CutColumns, Discretize as Discretize
from lyceum.prepare.drop_missing import DropMissing as DropMissing
from lyceum.prepare.fill_from_neighbors import FillFromNeighbors as FillFromNeighbors
from lyceum.prepare.fill_missing import FillMissing as FillMissing
from lyceum.prepare.mdl_cuts import frequency_cuts as frequency_cuts
from lyceum.prepare.min_max import MinMax as MinMax
from lyceum.prepare.missing_category import MissingCategory as MissingCategory
from lyceum.prepare.one_of_c import OneOfC as OneOfC
from lyceum.prepare.predict_missing import PredictMissing as PredictMissing
from lyceum.prepare.standardize import Standardize as Standardize
from lyceum.prepare.steps import as_floats as as_floats
from lyceum.prepare.text_counts import TextCounts as TextCounts
