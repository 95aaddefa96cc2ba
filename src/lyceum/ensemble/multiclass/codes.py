"""Codes of classes: exhaustive, random and BCH, with their distances."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log2

import numpy as np

from lyceum.errors import SettingError

MOST_EXHAUSTIVE = 12  # classes, 2,047 columns
_TRIES = 200  # random codes that are compared
_DRAWN_TOGETHER = 512  # columns
# primitive polynomials over GF(2) of degree m, one bit per coefficient
_PRIMITIVE = {
    3: 0b1011,
    4: 0b10011,
    5: 0b100101,
    6: 0b1000011,
    7: 0b10001001,
    8: 0b100011101,
}


def exhaustive_code(n_classes: int) -> np.ndarray:
    """All 2^(K-1) - 1 ways to divide K classes in two, (K, L).

    The first class is 1 throughout; any two classes differ in 2^(K-2) columns.

    >>> exhaustive_code(3).tolist()
    [[1, 1, 1], [-1, -1, 1], [-1, 1, -1]]
    """
    if n_classes > MOST_EXHAUSTIVE:
        raise SettingError(
            f"an exhaustive code of {n_classes} classes has {2 ** (n_classes - 1) - 1:,} columns,"
            ' one member each: use code="random" or "bch"'
        )
    # the bits of 0 to 2^(K-1) − 2 are the sides of the other classes; all ones would be one side
    numbers = np.arange(2 ** (n_classes - 1) - 1)
    bits = numbers >> np.arange(n_classes - 2, -1, -1)[:, None] & 1
    return np.vstack([np.ones(len(numbers)), 2 * bits - 1]).astype(np.int8)


def random_code(
    n_classes: int,
    n_columns: int,
    chance: np.random.Generator,
) -> np.ndarray:
    """Of many random codes that of the largest minimum distance, then of the largest mean distance,
    (K, L).

    Columns of one side only do not occur, nor two that divide the classes alike as long as there
    are others.

    >>> code = random_code(4, 7, np.random.default_rng(0))
    >>> code.shape, minimum_distance(code)
    ((4, 7), 4.0)
    """
    if n_columns >= 2 ** (n_classes - 1) - 1 and n_classes <= MOST_EXHAUSTIVE:
        return exhaustive_code(n_classes)
    best = (-1.0, -1.0)
    best_code = np.empty((0, 0), np.int8)
    drawn = _draw_columns(n_classes, chance)
    for _ in range(_TRIES):
        columns: dict[bytes, np.ndarray] = {}
        while len(columns) < n_columns:
            column, key = next(drawn)
            columns.setdefault(key, column)
        code = np.column_stack(list(columns.values()))
        distances = _distances(code)
        merit = (distances.min(), distances.mean())
        if merit > best:
            best = merit
            best_code = code
    return best_code


def _draw_columns(
    n_classes: int,
    chance: np.random.Generator,
) -> Iterator[tuple[np.ndarray, bytes]]:
    """Random columns of both sides, each with its key: a column and its opposite are one
    problem."""
    while True:
        columns = chance.choice(
            np.array([-1, 1], dtype=np.int8), (_DRAWN_TOGETHER, n_classes)
        )
        sides = columns * columns[:, :1]
        for j in np.flatnonzero((sides != 1).any(axis=1)):
            yield columns[j], sides[j].tobytes()


def bch_code(
    n_classes: int,
    n_columns: int | None,
    chance: np.random.Generator,
) -> np.ndarray:
    """Words of the binary BCH code of most distance that has enough of them, (K, L).

    Of the 2^k words of a code of length 2^m - 1, which differ in at least 2t + 1 places, some draws
    of K words are compared, and the one whose columns divide the classes in most different ways is
    taken. Columns of one side only, and those that divide the classes as an earlier one does, are
    then left out: they would be learned for nothing.

    >>> code = bch_code(6, None, np.random.default_rng(0))
    >>> minimum_distance(code) >= 5
    True
    """
    least = n_columns or max(7, ceil(4 * log2(n_classes)))
    lengths = [m for m in _PRIMITIVE if 2**m - 1 >= least]
    if not lengths:
        raise SettingError(
            f"BCH codes here have up to 255 columns, not {least}: use fewer, or code='random'"
        )
    words = _words_of_code(lengths[0], n_classes)
    best = (-1.0, -1.0)
    best_code = np.empty((0, 0), np.int8)
    for _ in range(_TRIES // 4):
        code = _useful_columns(_drawn_words(words, n_classes, chance))
        if n_columns is not None:
            code = code[:, :n_columns]
        merit = (minimum_distance(code), float(code.shape[1]))
        if merit > best:
            best = merit
            best_code = code
    if not best[0] > 0:
        raise SettingError(
            f"{n_columns} columns of a BCH code do not tell {n_classes} classes apart: use more"
        )
    return best_code


def _words_of_code(m: int, n_classes: int) -> np.ndarray:
    """The generator matrix (k, 2^m - 1) of the code of most distance with at least K words, 0 and
    1."""
    # The generator that corrects t errors is the least common multiple of the minimal polynomials
    # of α, α³, ..., α^(2t−1); its degree n − k leaves 2^k words. Each t costs words.
    n = 2**m - 1
    generator = np.array([1])
    chosen = None
    for t in range(1, n // 2):
        factor = _minimal_polynomial(m, 2 * t - 1)
        if not _divides(factor, generator):
            generator = np.convolve(generator, factor) % 2
        k = n - (len(generator) - 1)
        if k < 1 or 2**k < n_classes + 1:  # the word of zeros is one of them
            break
        chosen = generator
    assert chosen is not None
    k = n - (len(chosen) - 1)
    # a basis of the code: the generator and its shifts
    word = np.append(chosen, np.zeros(n - len(chosen), int))
    return np.array([np.roll(word, i) for i in range(k)])


def _minimal_polynomial(m: int, power: int) -> np.ndarray:
    """The polynomial over GF(2) of least degree with the root α^power, lowest coefficient first."""
    # exps[i] = α^i in GF(2^m), bits as coefficients; logs is its inverse
    n = 2**m - 1
    exps = []
    value = 1
    for _ in range(n):
        exps.append(value)
        overflow = value >> (m - 1)
        value <<= 1
        if overflow:
            value ^= _PRIMITIVE[m]
    logs = {value: i for i, value in enumerate(exps)}
    # the product of (x + α^root) over the conjugates α^(power 2^i), which is over GF(2) again
    conjugates = {power * 2**i % n for i in range(m)}
    product = [1]
    for root in conjugates:
        shifted = [0, *product]
        scaled = [exps[(logs[c] + root) % n] if c else 0 for c in product] + [0]
        product = [a ^ b for a, b in zip(shifted, scaled)]
    return np.array(product)


def _divides(factor: np.ndarray, polynomial: np.ndarray) -> bool:
    """Whether long division over GF(2) leaves nothing."""
    remainder = polynomial.copy()
    while len(remainder) >= len(factor):
        if remainder[-1]:
            remainder[-len(factor) :] ^= factor
        remainder = remainder[:-1]
    return not remainder.any()


def _drawn_words(
    words: np.ndarray,
    n_classes: int,
    chance: np.random.Generator,
) -> np.ndarray:
    """K different words, of 1 and -1."""
    k = len(words)
    # different combinations of the basis are different words
    if k <= 16:
        numbers = chance.choice(2**k, n_classes, replace=False)
        bits = numbers[:, None] >> np.arange(k) & 1
    else:
        bits = np.unique(chance.integers(0, 2, (4 * n_classes, k)), axis=0)
        bits = chance.permutation(bits)[:n_classes]
    return (2 * (bits @ words % 2) - 1).astype(np.int8)


def _useful_columns(code: np.ndarray) -> np.ndarray:
    """Without columns of one side, and without those that divide the classes as an earlier one
    does."""
    # with the first class at 1, a column and its opposite are the same
    signed = code * code[0]
    has_both_sides = (signed < 0).any(axis=0)
    code = code[:, has_both_sides]
    _, first = np.unique(signed[:, has_both_sides], axis=1, return_index=True)
    return code[:, np.sort(first)]


def minimum_distance(code: np.ndarray) -> float:
    """The least number of columns in which two classes differ; one that leaves either out counts ½.

    ⌊(d - 1)/2⌋ members may err, and the nearest word is still the right one.

    >>> minimum_distance(np.array([[1, 1, 1], [-1, -1, 1], [-1, 1, -1]]))
    2.0
    """
    if len(code) > 1:
        return float(_distances(code).min())
    return 0.0


def _distances(code: np.ndarray) -> np.ndarray:
    """(L − M_k · M_j) / 2 of all pairs of words."""
    words = code.astype(np.float64)
    distances = (words.shape[1] - words @ words.T) / 2.0
    return distances[np.triu_indices(len(words), 1)]
