"""Trees as indented text and as Graphviz DOT."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lyceum.data import Schema
from lyceum.tree_core._tree import Tree
from lyceum.tree_core._tree_labels import Actions, TreeLabels

__all__ = ["as_dot", "as_text", "node_colours"]

# The set of Okabe and Ito (2008): colours that colour-blind people can tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")


def as_text(
    tree: Tree,
    schema: Schema,
    classes: Sequence[Any] | None = None,
    *,
    criterion: str | None = None,
    actions: Actions | None = None,
    max_depth: int | None = None,
    missing: bool = False,
) -> str:
    """The tree as indented lines: a line a branch, the answer and the distribution of rows where it ends.

    Parameters
    ----------
    tree : Tree
    schema : Schema
    classes : labels, None for a regression
    criterion : str, optional
        What a regression tree was grown by; says what spread is shown.
    actions : Actions, optional
        What a tree with a loss matrix answers: the action of least expected loss in the place of a class.
    max_depth : int, optional
        Splits below are told by their number only.
    missing : bool, default=False
        Whether to say which branch a missing cell takes ("in part" if it takes all).
    """
    words = TreeLabels(tree, schema, classes, criterion, actions=actions)
    head = f"{words.target}: {words.answer_text(0)}" if words.is_leaf(0) else words.target
    lines = [f"{head}  [{words.distribution(0)}]"]
    lines += _branches(words, max_depth, missing)
    return "\n".join(lines)


def _branches(words: TreeLabels, max_depth: int | None, missing: bool) -> Iterator[str]:
    """Lines of the branches, depth first; by a list of what waits, as trees may be deep."""
    waiting = [(0, b, 0) for b in reversed(range(int(words.tree.n_children[0])))]
    while waiting:
        node, branch, depth = waiting.pop()
        child = int(words.tree.child[node]) + branch
        line = "|   " * depth + words.condition(node, branch) + (_gap(words, node, branch) if missing else "")
        if words.is_leaf(child):
            yield f"{line}: {words.answer_text(child)}  [{words.distribution(child)}]"
        elif max_depth is not None and depth + 1 >= max_depth:
            below = _size_below(words.tree, child)
            yield f"{line}: {words.answer_text(child)}  [{words.distribution(child)}]  … {below} leaves"
        else:
            yield f"{line}  [{words.distribution(child)}]"
            count = int(words.tree.n_children[child])
            waiting += [(child, b, depth + 1) for b in reversed(range(count))]


def _gap(words: TreeLabels, node: int, branch: int) -> str:
    to = int(words.tree.missing[node])
    return " or missing in part" if to < 0 else " or missing" if to == branch else ""


def _size_below(tree: Tree, node: int) -> int:
    """Leaves below a node."""
    waiting, leaves = [node], 0
    while waiting:
        i = waiting.pop()
        waiting += tree.children(i)
        leaves += int(tree.n_children[i] == 0)
    return leaves


def node_colours(words: TreeLabels) -> list[str]:
    """A soft colour a node: of the class answered by its share, grey for other actions; or by the mean."""
    tree = words.tree
    if words.classes is None:
        value = tree.value[:, 0]
        low, high = float(value.min()), float(value.max())
        depth = (value - low) / (high - low) if high > low else np.zeros(len(value))
        return [_mixed(_COLOURS[0], 0.05 + 0.5 * float(share)) for share in depth]
    return [_class_colour(words, node) for node in range(tree.n_nodes)]


def _class_colour(words: TreeLabels, node: int) -> str:
    k, share = words.answered_class(node), words.confidence(node)
    if k is None or share is None:
        return _mixed(_COLOURS[-1], 0.4)
    K = max(2, words.tree.value.shape[1])
    least = 0.0 if words.actions is None else 0.1  # a loss matrix may prefer a rare class
    return _mixed(_COLOURS[k % len(_COLOURS)], max(least, 0.5 * (share - 1 / K) / (1 - 1 / K)))


def _mixed(colour: str, strength: float) -> str:
    """White with so much of a colour."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 + (part - 255) * strength):02X}" for part in parts)


def as_dot(
    tree: Tree,
    schema: Schema,
    classes: Sequence[Any] | None = None,
    *,
    criterion: str | None = None,
    actions: Actions | None = None,
    max_depth: int | None = None,
) -> str:
    """The tree in the language of Graphviz: nodes coloured softly by their class or mean.

    Parameters are those of `as_text`.
    """
    words = TreeLabels(tree, schema, classes, criterion, actions=actions)
    colours, depths = node_colours(words), tree.depths
    lines = [
        "digraph tree {",
        '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11, color="#8A8A8A"];',
        '  edge [fontname="Helvetica", fontsize=10, color="#8A8A8A"];',
    ]
    for node in range(tree.n_nodes):
        if max_depth is not None and depths[node] > max_depth:
            continue
        cut = max_depth is not None and depths[node] == max_depth and not words.is_leaf(node)
        label = _node_label(words, node) + ([f"… {_size_below(tree, node)} leaves"] if cut else [])
        lines.append(f'  n{node} [label={_quoted(label)}, fillcolor="{colours[node]}"];')
        if not cut:
            for b, child in enumerate(tree.children(node)):
                lines.append(f"  n{node} -> n{child} [label={_quoted([words.test(node, b)])}];")
    return "\n".join([*lines, "}"])


def _node_label(words: TreeLabels, node: int) -> list[str]:
    said = [words.answer_text(node), words.distribution(node)]
    return said if words.is_leaf(node) else [words.column(node), *said[1:]]


def _quoted(lines: Sequence[str]) -> str:
    """Lines as one quoted string of DOT."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines)
    return '"' + "\\n".join(escaped) + '"'
