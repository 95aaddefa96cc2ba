"""Progress of long work: one protocol for reading, fitting, evaluating and studies, with a way to
stop.

Long-running code calls `report(stage, done, total)`. To see its progress, or to be able to cancel
it, run it inside `watch`:

    with watch(show) as watched:
        model.fit(rows)          # show(Update("trees", 12, 100)), ...

and calls `watched.cancel()`, from any thread, to end the work: the next report raises `Cancelled`,
and a learner whose fit is cancelled is left as it was.
"""

from lyceum._core.progress import Update, Watch, report, watch

__all__ = ["Update", "Watch", "report", "watch"]
