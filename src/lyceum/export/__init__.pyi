from lyceum.export.mlflow_flavor import write_mlflow as write_mlflow
from lyceum.export.program import Program as Program
from lyceum.export.write import Exported as Exported, export_model as export_model
from lyceum.export.writers import write_javascript as write_javascript
