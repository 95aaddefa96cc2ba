"""Pictures: segments of like pixels, and bags of visual words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lyceum._core.packages import check_installed
from lyceum._core.report import Shown
from lyceum.cluster import KMeans
from lyceum.errors import DataError, SettingError
from lyceum.mixtures import GaussianMixture
from lyceum.report import Summary, Table

Features = Literal["intensity", "color", "color+position"]
_LUMA = np.array([0.299, 0.587, 0.114])  # Rec. 601: how bright red, green and blue look


@dataclass(frozen=True, eq=False)
class Segmentation(Shown):
    """A picture cut into segments of like pixels.

    Attributes
    ----------
    labels : array of int of shape (height, width)
        The segment of every pixel, the largest segment first.
    palette : array of shape (n_segments, 3)
        The mean color of every segment, from 0 to 1.
    shares : array of shape (n_segments,)
        The share of the pixels in every segment.
    picture : array of shape (height, width, 3)
        Every pixel in the color of its segment.

    See Also
    --------
    segment_image : Computes it.
    lyceum.cluster.KMeans, lyceum.mixtures.GaussianMixture : Its methods.

    Examples
    --------
    A black picture with a white column at its right:

    >>> import numpy as np
    >>> from lyceum.workflows import segment_image
    >>> picture = np.zeros((2, 4))
    >>> picture[:, 3] = 1.0
    >>> segmentation = segment_image(picture, n_segments=2)
    >>> segmentation.labels.tolist(), segmentation.shares.tolist()
    ([[0, 0, 0, 1], [0, 0, 0, 1]], [0.75, 0.25])
    >>> segmentation.picture.shape
    (2, 4, 3)
    """

    labels: np.ndarray
    palette: np.ndarray
    shares: np.ndarray

    @property
    def picture(self) -> np.ndarray:
        """Every pixel in the color of its segment, (height, width, 3)."""
        return self.palette[self.labels]

    def save(self, path: str | Path, palette: str | Path | None = None) -> None:
        """Write the segmented picture as PNG, and the palette as a row of squares."""
        check_installed("writing a picture", "matplotlib")
        from matplotlib import image

        image.imsave(path, self.picture)
        if palette is not None:
            # one square of 32 pixels per color
            square = np.repeat(np.repeat(self.palette[None], 32, axis=0), 32, axis=1)
            image.imsave(palette, square)

    def summary(self) -> Summary:
        """The segments with their colors."""
        height, width = self.labels.shape
        rows = [
            (k, "#" + "".join(f"{round(255 * c):02x}" for c in color), share)
            for k, (color, share) in enumerate(zip(self.palette, self.shares))
        ]
        facts = {"width": width, "height": height, "segments": len(self.palette)}
        table = Table("Segments", ("segment", "color", "share"), rows)
        return Summary("Segmentation", facts, [table])


def segment_image(
    image: Any,
    *,
    n_segments: int = 4,
    by: Features = "color",
    method: Literal["kmeans", "mixture"] = "kmeans",
    position_weight: float = 0.5,
    random_state: int | None = 0,
) -> Segmentation:
    """Cut a picture into segments of pixels that are alike.

    Parameters
    ----------
    image : path or array of shape (height, width), (height, width, 3) or (height, width, 4)
        A file that Matplotlib reads (PNG, and others with Pillow), or pixels of 0 to 1 or 0 to 255.
    n_segments : int, default=4
        The number of segments.
    by : {"intensity", "color", "color+position"}, default="color"
        What makes pixels alike: how bright they are, their color, or their color and place.
    method : {"kmeans", "mixture"}, default="kmeans"
        k-means, or a mixture of Gaussians.
    position_weight : float, default=0.5
        With "color+position": how far one side of the picture is, when black is 1 from white in
        each color.
    random_state : int or None, default=0
        The seed of the start.

    Returns
    -------
    Segmentation

    Examples
    --------
    >>> import numpy as np
    >>> picture = np.zeros((8, 8, 3))
    >>> picture[:, 5:] = [1.0, 0.0, 0.0]
    >>> segmentation = segment_image(picture, n_segments=2)
    >>> segmentation.shares.tolist(), segmentation.palette.round(2).tolist()
    ([0.625, 0.375], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    """
    pixels = _pixels(image)
    height, width = pixels.shape[:2]
    features = _features(pixels, by, float(position_weight)).reshape(height * width, -1)
    clusters = _labels(features, n_segments, method, random_state)
    # segments are numbered by their size, the largest 0; empty ones come last and are left out
    counts = np.bincount(clusters, minlength=n_segments)
    rank = np.empty(len(counts), dtype=np.intp)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    flat = rank[clusters]
    sizes = np.bincount(flat)
    colors = pixels.reshape(-1, 3)
    sums = np.stack([np.bincount(flat, colors[:, c]) for c in range(3)], axis=1)
    palette = sums / sizes[:, None]
    labels = flat.reshape(height, width)
    return Segmentation(labels, np.clip(palette, 0.0, 1.0), sizes / sizes.sum())


def _pixels(image: Any) -> np.ndarray:
    """Red, green and blue from 0 to 1."""
    if isinstance(image, str | Path):
        check_installed("reading a picture", "matplotlib")
        from matplotlib import image as files

        if not Path(image).exists():
            raise DataError(f"there is no picture at {str(image)!r}")
        try:
            image = files.imread(image)
        except Exception as error:
            raise DataError(
                f"{str(image)!r} cannot be read as a picture: {error}"
            ) from error
    pixels = np.asarray(image)
    # whole numbers are bytes, and so are floats beyond 1
    is_integer = pixels.dtype.kind in "iu"
    pixels = pixels.astype(np.float64)
    if is_integer or pixels.max(initial=0.0) > 1.0:
        pixels = pixels / 255.0
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[:, :, None], 3, axis=2)
    if pixels.ndim != 3 or pixels.shape[2] not in (3, 4) or not pixels.size:
        raise DataError(
            f"a picture has rows and columns of 1, 3 or 4 numbers, not the shape {pixels.shape}"
        )
    if pixels.shape[2] == 4:  # on white: a c + (1 - a), a the fourth number
        opacity = pixels[:, :, 3:]
        pixels = pixels[:, :, :3] * opacity + (1.0 - opacity)
    return np.clip(pixels[:, :, :3], 0.0, 1.0)


def _features(pixels: np.ndarray, by: str, weight: float) -> np.ndarray:
    if by == "intensity":
        return (pixels @ _LUMA)[:, :, None]
    if by == "color":
        return pixels
    if by != "color+position":
        raise SettingError(
            f"by={by!r} is none of 'intensity', 'color' and 'color+position'"
        )
    # both in shares of the longer side, so that a distance is the same in all directions
    height, width = pixels.shape[:2]
    side = max(height, width) - 1 or 1
    rows, columns = np.mgrid[:height, :width] / side
    return np.dstack([pixels, weight * rows, weight * columns])


def _labels(
    features: np.ndarray, k: int, method: str, random_state: int | None
) -> np.ndarray:
    # no more segments than pixels that differ
    distinct = len(np.unique(features, axis=0))
    k = min(int(k), distinct)
    model: Any
    if method == "kmeans":
        model = KMeans(k, n_init=3, random_state=random_state)
    elif method == "mixture":
        model = GaussianMixture(k, random_state=random_state, max_iter=200, tol=1e-4)
    else:
        raise SettingError(f"method={method!r} is neither 'kmeans' nor 'mixture'")
    return np.asarray(model.fit(features).labels_)


# -- bags of visual words --------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class VisualWords(Shown):
    """A vocabulary of small patches, and pictures as counts of them.

    Attributes
    ----------
    model : KMeans
        The clusters of patches; their centers are the words.
    patch, step : int
        The side of a patch, and how far patches are apart, in pixels.

    See Also
    --------
    visual_words : Learns the vocabulary.
    lyceum.cluster.KMeans : Finds the words.

    References
    ----------
    G. Csurka, C. R. Dance, L. Fan, J. Willamowski and C. Bray, "Visual categorization with bags of
    keypoints", ECCV Workshop on Statistical Learning in Computer Vision, 2004.

    Examples
    --------
    Every picture of 16 × 16 pixels has 5 × 5 patches of side 4 that are 3 pixels apart:

    >>> import numpy as np
    >>> from lyceum.workflows import visual_words
    >>> stripes = np.tile([[0.0], [0.0], [1.0], [1.0]], (4, 16))
    >>> words = visual_words([stripes, stripes.T], n_words=4, patch=4)
    >>> counts = words.counts([stripes, stripes.T])
    >>> counts.sum(axis=1).tolist(), bool((counts[0] != counts[1]).any())
    ([25.0, 25.0], True)
    """

    model: KMeans
    patch: int
    step: int

    def counts(self, images: Sequence[Any]) -> np.ndarray:
        """How often every word occurs in every picture, (n_images, n_words)."""
        n_words = len(self.model.cluster_centers_)
        counts = np.empty((len(images), n_words))
        for i, image in enumerate(images):
            words = self.model.predict(_patches(image, self.patch, self.step))
            counts[i] = np.bincount(words, minlength=n_words)
        return counts


def visual_words(
    images: Sequence[Any],
    *,
    n_words: int = 32,
    patch: int = 6,
    step: int = 3,
    random_state: int | None = 0,
) -> VisualWords:
    """Learn a vocabulary of visual words: k-means of the small patches of pictures.

    A patch is taken in gray, minus its mean and divided by its length, so that light does not
    matter. The counts of the words are then a table like any other: cluster it, or learn a
    classifier from it.

    Parameters
    ----------
    images : sequence of paths or arrays
        Pictures, as `segment_image` takes them.
    n_words : int, default=32
        The size of the vocabulary.
    patch : int, default=6
        The side of a patch in pixels.
    step : int, default=3
        How far patches are apart.
    random_state : int or None, default=0
        The seed of k-means.

    Returns
    -------
    VisualWords

    Examples
    --------
    >>> import numpy as np
    >>> stripes = np.tile([[0.0], [0.0], [1.0], [1.0]], (4, 16))
    >>> words = visual_words([stripes, stripes.T], n_words=4, patch=4)
    >>> words.counts([stripes, stripes.T]).shape
    (2, 4)
    """
    patches = np.vstack([_patches(image, patch, step) for image in images])
    # patches that differ only by rounding are one
    k = min(int(n_words), len(np.unique(patches.round(9), axis=0)))
    model = KMeans(k, n_init=1, random_state=random_state).fit(patches)
    return VisualWords(model, patch, step)


def _patches(image: Any, patch: int, step: int) -> np.ndarray:
    gray = _pixels(image) @ _LUMA
    if min(gray.shape) < patch:
        raise DataError(
            f"a picture of {gray.shape[1]} × {gray.shape[0]} pixels has no patch of {patch}"
        )
    windows = np.lib.stride_tricks.sliding_window_view(gray, (patch, patch))
    cells = windows[::step, ::step].reshape(-1, patch * patch)
    # brightness and contrast are taken out; a flat patch stays flat
    cells = cells - cells.mean(axis=1, keepdims=True)
    length = np.linalg.norm(cells, axis=1, keepdims=True)
    return cells / np.maximum(length, 0.05 * patch)
