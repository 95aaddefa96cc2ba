"""The main job: from a table and a question to compared, explained and saved models.

A study goes from recipe to plan, tasks, store, comparison, report and model. The function `study`
is also `lyceum.study`. What runs a study is imported when it is first used.
"""

from lyceum._core.first_use import import_on_first_use

__getattr__, __dir__, __all__ = import_on_first_use(__name__)
