"""Losses as people type them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lyceum.cli.screen import print_error
from lyceum.decision import complete_loss, read_loss


def loss_for(text: str | None, classes: Iterable[Any] | None) -> Any:
    """The losses of a text for these classes; pairs that are not given cost 1, and a note says so.

    Without classes the losses stay as they are given.
    """
    if text is None:
        return None
    costs = read_loss(text)
    if classes is None:
        return costs
    losses, note = complete_loss(costs, classes)
    if note:
        print_error(note)
    return losses
