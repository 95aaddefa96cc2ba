"""The laws that every learner obeys, whatever it learns and wherever its rows come from.

    from tests.checks.laws import check

    check(MyLearner())                          # all laws, on data for its task
    check(MyLearner(), Case(rtol=1e-6))         # with what is particular to it

A law is a function of a learner and a `Case`; `LAWS` lists them, for `pytest.mark.parametrize`.
They need nothing from a learner but scikit-learn's interface and a `fit` that takes `scan(...)` and
Dask collections.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.checks.array_laws import arrays_need_no_arrow
from tests.checks.category_laws import (
    a_warm_start_keeps_or_refuses_the_columns,
    the_order_of_categories_does_not_matter_later,
)
from tests.checks.explain_laws import (
    explanations_name_columns_and_sum_to_the_score,
    explanations_need_one_pass,
)
from tests.checks.fits import Case
from tests.checks.model_laws import (
    a_refused_fit_changes_nothing,
    a_saved_model_is_the_model,
    it_shows_itself,
)
from tests.checks.number_laws import (
    cells_may_be_a_million_away,
    single_precision_is_close_to_double,
    threads_do_not_change_a_bit,
)
from tests.checks.posterior_laws import posteriors_are_probabilities
from tests.checks.record_laws import (
    a_record_goes_through_a_pipeline_as_its_row,
    a_record_is_answered_as_its_row,
    a_record_is_explained_as_its_row,
)
from tests.checks.source_laws import (
    a_class_may_be_missing_from_the_first_block,
    partial_fit_is_fit_on_all_rows,
    predictions_do_not_depend_on_the_source,
    rows_are_read_as_declared,
    the_order_of_rows_does_not_matter,
    the_source_does_not_matter,
    weights_are_repeats,
    zero_weight_rows_are_ignored,
)
from tests.checks.table_laws import (
    a_mixed_table_needs_no_encoding,
    a_scanned_frame_is_the_frame,
    missing_cells_are_taken_or_named,
    new_categories_may_come_later,
    unseen_categories_do_not_stop_it,
)

__all__ = ["LAWS", "Case", "check"]

Law = Callable[[Any, Case], None]
LAWS: tuple[Law, ...] = (
    the_source_does_not_matter,
    predictions_do_not_depend_on_the_source,
    rows_are_read_as_declared,
    weights_are_repeats,
    zero_weight_rows_are_ignored,
    the_order_of_rows_does_not_matter,
    a_class_may_be_missing_from_the_first_block,
    single_precision_is_close_to_double,
    cells_may_be_a_million_away,
    threads_do_not_change_a_bit,
    partial_fit_is_fit_on_all_rows,
    a_saved_model_is_the_model,
    a_refused_fit_changes_nothing,
    it_shows_itself,
    a_mixed_table_needs_no_encoding,
    a_scanned_frame_is_the_frame,
    missing_cells_are_taken_or_named,
    unseen_categories_do_not_stop_it,
    a_record_is_answered_as_its_row,
    a_record_goes_through_a_pipeline_as_its_row,
    a_record_is_explained_as_its_row,
    new_categories_may_come_later,
    a_warm_start_keeps_or_refuses_the_columns,
    the_order_of_categories_does_not_matter_later,
    posteriors_are_probabilities,
    explanations_name_columns_and_sum_to_the_score,
    explanations_need_one_pass,
    arrays_need_no_arrow,
)


def check(learner: Any, case: Case | None = None) -> None:
    """Raise every law that the learner breaks, but for those in `case.without`."""
    case = case or Case()
    unknown = case.without.keys() - {law.__name__ for law in LAWS}
    assert not unknown, f"no such laws: {unknown}"
    broken = []
    for law in LAWS:
        if law.__name__ not in case.without:
            try:
                law(learner, case)
            except Exception as error:
                error.add_note(f"in the law {law.__name__}")
                broken.append((law.__name__, error))
    if broken:
        raise ExceptionGroup(
            f"{learner} breaks {', '.join(n for n, _ in broken)}",
            [e for _, e in broken],
        )
