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
    if labels.is_leaf(0):
        head = f"{labels.target}: {labels.answer_text(0)}"
    else:
        head = labels.target
    lines = [f"{head}  [{labels.distribution(0)}]"]
    lines += _branches(labels, max_depth, missing)
    return "\n".join(lines)


def _branches(
    labels: TreeLabels, max_depth: int | None, missing: bool
) -> Iterator[str]:
    """Lines of the branches, depth first; by a list of what waits, as trees may be deep."""
    waiting = [(0, b, 0) for b in reversed(range(int(labels.tree.n_children[0])))]
    while waiting:
        node, branch, depth = waiting.pop()
        child = int(labels.tree.child[node]) + branch
        line = "|   " * depth + labels.condition(node, branch)
        line += _missing_text(labels, node, branch) if missing else ""
        if labels.is_leaf(child):
            yield f"{line}: {labels.answer_text(child)}  [{labels.distribution(child)}]"
        elif max_depth is not None and depth + 1 >= max_depth:
            below = labels.tree.leaves_below(child)
            yield (
                f"{line}: {labels.answer_text(child)}  [{labels.distribution(child)}]  … {below}"
                " leaves"
            )
        else:
            yield f"{line}  [{labels.distribution(child)}]"
            count = int(labels.tree.n_children[child])
            waiting += [(child, b, depth + 1) for b in reversed(range(count))]


def _missing_text(labels: TreeLabels, node: int, branch: int) -> str:
    to = int(labels.tree.missing[node])
    if to < 0:
        return " or missing in part"
    if to == branch:
        return " or missing"
    return ""


def node_colors(labels: TreeLabels) -> list[str]:
    """A soft color per node: of the class answered by its share, gray for other actions; or by the
    mean."""
    tree = labels.tree
    if labels.classes is None:
        value = tree.value[:, 0]
        low = float(value.min())
        high = float(value.max())
        if high > low:
            depth = (value - low) / (high - low)
        else:
            depth = np.zeros(len(value))
        return [_mix_color(_COLORS[0], 0.05 + 0.5 * float(share)) for share in depth]
    return [_class_color(labels, node) for node in range(tree.n_nodes)]


def _class_color(labels: TreeLabels, node: int) -> str:
    k = labels.answered_class(node)
    share = labels.confidence(node)
    if k is None or share is None:
        return _mix_color(_COLORS[-1], 0.4)
    K = max(2, labels.tree.value.shape[1])
    # a loss matrix may prefer a rare class
    least = 0.0 if labels.actions is None else 0.1
    return _mix_color(
        _COLORS[k % len(_COLORS)], max(least, 0.5 * (share - 1 / K) / (1 - 1 / K))
    )


def _mix_color(color: str, strength: float) -> str:
    """White mixed with a share of a color."""
    parts = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(
        f"{round(255 + (part - 255) * strength):02X}" for part in parts
    )


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
        cut = (
            max_depth is not None
            and depths[node] == max_depth
            and not labels.is_leaf(node)
        )
        label = _node_label(labels, node, answers or {}) + (
            [f"… {tree.leaves_below(node)} leaves"] if cut else []
        )
        lines.append(f'  n{node} [label={_quote(label)}, fillcolor="{colors[node]}"];')
        if not cut:
            for b, child in enumerate(tree.children(node)):
                lines.append(
                    f"  n{node} -> n{child} [label={_quote([labels.test(node, b)])}];"
                )
    return "\n".join([*lines, "}"])


def _node_label(labels: TreeLabels, node: int, answers: Mapping[int, str]) -> list[str]:
    lines = [answers.get(node) or labels.answer_text(node), labels.distribution(node)]
    if labels.is_leaf(node):
        return lines
    return [labels.column(node), *lines[1:]]


def _quote(lines: Sequence[str]) -> str:
    """Lines as one quoted string of DOT."""
    escaped = (
        line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
        for line in lines
    )
    return '"' + "\\n".join(escaped) + '"'
