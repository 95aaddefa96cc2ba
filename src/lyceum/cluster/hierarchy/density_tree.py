"""The clusters of a tree of mutual reachability: which branches persist longest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Branches:
    """The clusters chosen from a tree, and what every row has to do with them.

    `labels` are -1 for noise; `strengths` say how deep in its cluster a row is, from 0 to 1;
    `heights` are the distances at which the clusters were split off, infinite for the cluster of
    all rows.
    """

    labels: np.ndarray
    strengths: np.ndarray
    heights: np.ndarray
    stabilities: np.ndarray


def branches(
    merges: np.ndarray, w: np.ndarray, smallest: float, leaves: bool, single: bool
) -> Branches:
    """Clusters by excess of mass, or the `leaves` of the tree of clusters (Campello and others
    2013).

    Going down the tree, a merge is a true split if both parts weigh at least `smallest`; otherwise
    rows fall out of a cluster that goes on. A cluster's stability is Σ w (λ of leaving - λ of
    birth), λ = 1 / height. Of a cluster and the clusters inside of it those of the larger stability
    in all are kept.
    """
    n = len(merges) + 1
    heights = merges[:, 2]
    floor = heights[heights > 0].min(initial=np.inf)
    lam = 1.0 / np.maximum(heights, floor if np.isfinite(floor) else 1.0)
    most = lam.max(initial=0.0)
    size = np.concatenate([w, merges[:, 3]])
    children = merges[:, :2].astype(np.int64)
    cluster, parents, births = _split(children, size, lam, n, smallest)
    leaving, place = _leaving(children, size, lam, n, smallest, most)
    of = cluster[place]  # the cluster that every row falls out of
    stability = np.bincount(of, w * (leaving - births[of]), len(parents))
    weight = np.bincount(of, w, len(parents))
    for c in range(len(parents) - 1, 0, -1):  # children have higher numbers
        weight[parents[c]] += weight[c]
        stability[parents[c]] += weight[c] * (births[c] - births[parents[c]])
    # all rows are one cluster only if they weigh enough, and some of them are dense
    single = single and size[-1] >= smallest and most > 0
    chosen = _choose_branches(parents, stability, leaves, single)
    return _label_rows(chosen, parents, of, leaving, births, stability)


def _split(
    children: np.ndarray, size: np.ndarray, lam: np.ndarray, n: int, smallest: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cluster of every node that weighs enough, and the parents and births of clusters."""
    cluster = np.zeros(2 * n - 1, dtype=np.int64)
    parents = [-1]
    births = [0.0]
    large = (size >= smallest).tolist()
    pairs = children.tolist()
    values = lam.tolist()
    found = cluster.tolist()
    for t in range(n - 2, -1, -1):
        one, two = pairs[t]
        if not large[n + t]:
            continue
        own = found[n + t]
        if large[one] and large[two]:
            for part in (one, two):
                found[part] = len(parents)
                parents.append(own)
                births.append(values[t])
        else:
            found[one] = found[two] = own
    return np.array(found), np.array(parents), np.array(births)


def _leaving(
    children: np.ndarray, size: np.ndarray, lam: np.ndarray, n: int, smallest: float, most: float
) -> tuple[np.ndarray, np.ndarray]:
    """When every row leaves its cluster, and the node that it leaves it at: the lowest that weighs
    enough."""
    above = np.full(2 * n - 1, 2 * n - 2)
    above[children.ravel()] = np.repeat(np.arange(n, 2 * n - 1), 2)
    place = np.arange(n)
    while True:
        small = (size[place] < smallest) & (place < 2 * n - 2)
        if not small.any():
            break
        place = np.where(small, above[place], place)
    leaving = np.full(n, most)
    inner = place >= n
    leaving[inner] = lam[place[inner] - n]
    return leaving, place


def _choose_branches(
    parents: np.ndarray, stability: np.ndarray, leaves: bool, single: bool
) -> np.ndarray:
    """Which clusters are kept; never one inside of another."""
    k = len(parents)
    inside = np.zeros(k)
    has_children = np.zeros(k, dtype=bool)
    chosen = np.zeros(k, dtype=bool)
    total = stability.copy()
    for c in range(k - 1, -1, -1):
        if leaves:
            better = not has_children[c]
        else:
            better = total[c] >= inside[c] or not has_children[c]
        chosen[c] = better and (c > 0 or single)
        total[c] = max(total[c], inside[c])
        if c:
            inside[parents[c]] += total[c]
            has_children[parents[c]] = True
    for c in range(1, k):  # what lies inside of a kept cluster belongs to it
        above = parents[c]
        while above >= 0:
            if chosen[above]:
                chosen[c] = False
                break
            above = parents[above]
    return chosen


def _label_rows(
    chosen: np.ndarray,
    parents: np.ndarray,
    of: np.ndarray,
    leaving: np.ndarray,
    births: np.ndarray,
    stability: np.ndarray,
) -> Branches:
    kept = np.flatnonzero(chosen)
    label = np.full(len(parents), -1)
    label[kept] = np.arange(len(kept))
    for c in range(1, len(parents)):
        if label[c] < 0:
            label[c] = label[parents[c]]
    labels = label[of]
    inside = labels >= 0
    deepest = np.zeros(len(kept))
    np.maximum.at(deepest, labels[inside], leaving[inside])
    strengths = np.zeros(len(of))
    strengths[inside] = leaving[inside] / deepest[labels[inside]]
    with np.errstate(divide="ignore"):
        return Branches(labels, strengths, 1.0 / births[kept], stability[kept])
