"""Trees as indented text and as Graphviz DOT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from lyceum._core.trees.explain.labels import TreeLabels

# The set of Okabe and Ito (2008): colors that color-blind people can tell apart.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")


def as_text(
    labels: TreeLabels, *, max_depth: int | None = None, missing: bool = False
) -> str:
    """The tree as indented lines, one per branch, with the answer and the distribution of rows at
    leaves.

    Parameters
    ----------
    labels : TreeLabels
        The tree with the names of its columns, classes and actions.
    max_depth : int, optional
        Of splits further down only the number of leaves is shown.
    missing : bool, default=False
        Whether to show which branch a missing cell takes ("in part" if it takes all).
    """
    head = labels.target
    if labels.is_leaf(0):
        head += f": {labels.answer_text(0)}"
    lines = [f"{head}  [{labels.distribution(0)}]"]
    lines += _branches(labels, max_depth, missing)
    return "\n".join(lines)


def _branches(
    labels: TreeLabels, max_depth: int | None, missing: bool
) -> Iterator[str]:
    """Lines of the branches, depth first; by a list of what waits, as trees may be deep."""
    tree = labels.tree
    n_children = int(tree.n_children[0])
    waiting = [(0, b, 0) for b in reversed(range(n_children))]
    while waiting:
        node, branch, depth = waiting.pop()
        child = int(tree.child[node]) + branch
        line = "|   " * depth + labels.condition(node, branch)
        if missing and tree.missing[node] < 0:
            line += " or missing in part"
        elif missing and tree.missing[node] == branch:
            line += " or missing"
        rows = f"[{labels.distribution(child)}]"
        if labels.is_leaf(child):
            yield f"{line}: {labels.answer_text(child)}  {rows}"
        elif max_depth is not None and depth + 1 >= max_depth:
            below = tree.leaves_below(child)
            yield f"{line}: {labels.answer_text(child)}  {rows}  … {below} leaves"
        else:
            yield f"{line}  {rows}"
            n_children = int(tree.n_children[child])
            waiting += [(child, b, depth + 1) for b in reversed(range(n_children))]


def node_colors(labels: TreeLabels) -> list[str]:
    """A soft color per node: of the class answered by its share, gray for other actions; or by the
    mean."""
    tree = labels.tree
    if labels.classes is None:
        value = tree.node_values[:, 0]
        low = float(value.min())
        high = float(value.max())
        strength = np.zeros(len(value))
        if high > low:
            strength = (value - low) / (high - low)
        return [_mix_color(_COLORS[0], 0.05 + 0.5 * float(s)) for s in strength]
    return [_class_color(labels, node) for node in range(tree.n_nodes)]


def _class_color(labels: TreeLabels, node: int) -> str:
    k = labels.answered_class(node)
    share = labels.confidence(node)
    if k is None or share is None:
        return _mix_color(_COLORS[-1], 0.4)
    # white at equal shares 1/K, half the color at 1; a loss matrix may prefer a rare class
    K = max(2, labels.tree.node_values.shape[1])
    least = 0.0 if labels.actions is None else 0.1
    strength = max(least, 0.5 * (share - 1 / K) / (1 - 1 / K))
    return _mix_color(_COLORS[k % len(_COLORS)], strength)


def _mix_color(color: str, strength: float) -> str:
    """White mixed with a share of a color."""
    parts = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    mixed = [round(255 + (part - 255) * strength) for part in parts]
    return "#" + "".join(f"{part:02X}" for part in mixed)


def as_dot(
    labels: TreeLabels,
    *,
    max_depth: int | None = None,
    answers: Mapping[int, str] | None = None,
) -> str:
    """The tree in the language of Graphviz, nodes colored softly by their class or mean.

    Parameters
    ----------
    labels : TreeLabels
        The tree with the names of its columns, classes and actions.
    max_depth : int, optional
        Of splits further down only the number of leaves is shown.
    answers : mapping of leaves to text, optional
        What leaves answer, where it is not the number or the class of the tree.
    """
    tree = labels.tree
    colors = node_colors(labels)
    depths = tree.depths
    lines = [
        "digraph tree {",
        (
            '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11,'
            ' color="#8A8A8A"];'
        ),
        '  edge [fontname="Helvetica", fontsize=10, color="#8A8A8A"];',
    ]
    for node in range(tree.n_nodes):
        if max_depth is not None and depths[node] > max_depth:
            continue
        if labels.is_leaf(node):
            head = (answers or {}).get(node) or labels.answer_text(node)
        else:
            head = labels.column(node)
        label = [head, labels.distribution(node)]
        is_cut = max_depth == depths[node] and not labels.is_leaf(node)
        if is_cut:
            label.append(f"… {tree.leaves_below(node)} leaves")
        lines.append(f'  n{node} [label={_quote(label)}, fillcolor="{colors[node]}"];')
        if is_cut:
            continue
        for b, child in enumerate(tree.children(node)):
            test = _quote([labels.test(node, b)])
            lines.append(f"  n{node} -> n{child} [label={test}];")
    return "\n".join([*lines, "}"])


def _quote(lines: Sequence[str]) -> str:
    """Lines as one quoted string of DOT."""
    escaped = (
        line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
        for line in lines
    )
    return '"' + "\\n".join(escaped) + '"'
