"""The steps of a fit as pictures: some of them in a strip, or all of them as an animation."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.text import show
from lyceum._core.types import Data, Estimator, Target
from lyceum.errors import SettingError
from lyceum.plot.models.clusters import draw_center_step
from lyceum.plot.models.mixtures import covariance_matrices, draw_ellipses
from lyceum.plot.plane import plane_grid
from lyceum.plot.style import INK, color_of, draw_points, finish, panel_grid
from lyceum.report import Steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GRID = 120  # points along a side of the plane
_POINT = 9.0


@dataclass(frozen=True)
class _Scene:
    """What the pictures of all steps have in common."""

    model: Any
    steps: Steps
    X: np.ndarray  # (n, d) in design columns
    y: np.ndarray | None
    columns: tuple[int, int]

    @property
    def cells(self) -> np.ndarray:
        """The two columns that are drawn."""
        return self.X[:, list(self.columns)]

    def record(self, i: int) -> Mapping[str, Any]:
        return self.steps.records[i]

    def colors(self) -> list[str]:
        """The colors of the rows by their classes."""
        if self.y is None:
            return ["#8A8A8A"] * len(self.X)
        codes = np.unique(self.y, return_inverse=True)[1]
        return [color_of(k) for k in codes]


Draw = Callable[["Axes", _Scene, int], None]


def steps(
    model: Estimator,
    X: Data = None,
    y: Target = None,
    *,
    columns: tuple[int, int] = (0, 1),
    most: int = 6,
    path: str | Path | None = None,
    seconds: float = 0.8,
    title: str | None = None,
) -> list[Axes]:
    """The steps of a fit, picture by picture; with a path also as an animation of all of them.

    Centers and components move, boundaries turn, rows that were wrong grow, clusters merge. Where
    two columns show nothing of a learner, its objective is drawn up to each step.

    Parameters
    ----------
    model : fitted learner with record=True
        A perceptron, logistic or other linear classifier, k-means, k-medoids, a mixture, AdaBoost,
        a kernel perceptron or a linkage, on any number of columns; boundaries need two. Any other
        learner with a record is shown by its objective.
    X : array of shape (n, d), optional
        The rows, in the columns of the fit.
    y : array of shape (n,), optional
        Their classes, or their targets.
    columns : pair of int, default=(0, 1)
        The columns to draw.
    most : int, default=6
        The most pictures of the strip, the first and the last step among them.
    path : path, optional
        Where to write the animation of all steps: `.gif`, or `.html`, a page with a slider and the
        numbers of every step as text.
    seconds : float, default=0.8
        How long a step is shown.
    title : str, optional
        The title of the strip and of the page.

    Returns
    -------
    list of Matplotlib axes

    See Also
    --------
    kmeans_steps, em_steps : The same of k-means and of mixtures.
    lyceum.report.Steps : The numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum import plot
    >>> from lyceum.linear import Perceptron
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 3.0], [4.0, 2.0]])
    >>> model = Perceptron(shuffle=False, record=True).fit(X, [0, 0, 1, 1])
    >>> len(plot.steps(model, X, [0, 0, 1, 1])) == min(6, len(model.record_))
    True
    """
    if not hasattr(model, "steps"):
        raise SettingError(
            f"{type(model).__name__} keeps no record of steps: there is nothing to draw"
        )
    scene = _scene(model, X, y, columns)
    draw = _drawer(scene)
    n = len(scene.steps)
    shown = np.unique(np.linspace(0, n - 1, min(most, n)).round().astype(int))
    figure, panels = panel_grid(len(shown), (3.3, 3.1))
    for ax, i in zip(panels, shown):
        _draw_step(ax, scene, draw, int(i))
    if title:
        figure.suptitle(title)
    if path is not None:
        _write(Path(path), scene, draw, seconds, title)
    return panels


def _scene(model: Any, X: Any, y: Any, columns: tuple[int, int]) -> _Scene:
    record = model.steps()
    if not len(record):
        raise SettingError(f"{type(model).__name__} made no steps: nothing to draw")
    if X is None and hasattr(model, "rows_"):
        X = model.rows_
    width = len(model.design_names)
    cells = np.empty((0, width))
    if X is not None:
        cells = np.asarray(X, dtype=np.float64)
        if cells.ndim != 2 or cells.shape[1] != width:
            raise SettingError(
                f"X has the shape {cells.shape}, but the model has {width} columns: give the"
                " rows as numbers in the columns of the fit"
            )
    target = None if y is None else np.asarray(y)
    return _Scene(model, record, cells, target, columns)


def _draw_step(ax: Axes, scene: _Scene, draw: Draw, i: int) -> None:
    draw(ax, scene, i)
    record = scene.record(i)
    facts = [f"{scene.steps.noun} {record.get('step', i)}"]
    for column in scene.steps.columns:
        value = record.get(column.name)
        if isinstance(value, float | int) and len(facts) < 3:
            facts.append(f"{column.symbol} {show(value)}")
    ax.set_title(", ".join(facts), fontsize="small", color=INK)


# -- what is drawn of a step -----------------------------------------------------------


def _drawer(scene: _Scene) -> Draw:
    """The picture that suits the values of the steps."""
    names = {column.name for column in scene.steps.columns}
    d = len(scene.model.design_names)
    has_rows = len(scene.X) > 0
    if d >= 2 and has_rows:
        for needed, draw in _DRAWERS.items():
            if needed <= names:
                return draw
        # a boundary on the plane of all columns, of a classifier
        is_linear = {"coef", "intercept"} <= names and hasattr(scene.model, "classes_")
        if is_linear and d == 2:
            return _draw_boundary
    if d == 1 and has_rows and scene.y is not None and {"coef", "intercept"} <= names:
        return _draw_line
    return _draw_objective


def _draw_centers(ax: Axes, scene: _Scene, i: int) -> None:
    centers = np.stack([scene.record(j)["centers"] for j in range(i + 1)])
    draw_center_step(ax, scene.X, centers, list(scene.columns))
    _name_axes(ax, scene)


def _draw_medoids(ax: Axes, scene: _Scene, i: int) -> None:
    medoids = scene.X[np.asarray(scene.record(i)["medoids"], dtype=int)]
    draw_center_step(ax, scene.X, medoids[None], list(scene.columns))
    _name_axes(ax, scene)


def _draw_components(ax: Axes, scene: _Scene, i: int) -> None:
    record = scene.record(i)
    draw_points(ax, scene.cells, _POINT, color="#B8B8B8")
    matrices = covariance_matrices(scene.model, record["covariances"])
    draw_ellipses(
        ax, record["weights"], record["means"], matrices, columns=scene.columns
    )
    _name_axes(ax, scene)


def _draw_boundary(ax: Axes, scene: _Scene, i: int) -> None:
    """The regions of the classes under the weights of the step, and the rows."""
    record = scene.record(i)
    coef = np.atleast_2d(record["coef"])
    intercept = np.atleast_1d(record["intercept"])
    sides, grid = plane_grid(scene.X, 0.15, _GRID)
    scores = grid @ coef.T + intercept
    if scores.shape[1] == 1:
        region = (scores[:, 0] >= 0).astype(float)
    else:
        region = scores.argmax(axis=1).astype(float)
    _draw_regions(ax, sides, region)
    draw_points(ax, scene.cells, 2 * _POINT, c=scene.colors())
    _name_axes(ax, scene)


def _draw_round(ax: Axes, scene: _Scene, i: int) -> None:
    """The rows in the sizes of their weights, and the regions of the member of the round."""
    record = scene.record(i)
    weights = np.asarray(record["weights"], dtype=float)
    n_kept = sum(bool(scene.record(j)["kept"]) for j in range(i + 1))
    is_plane = scene.X.shape[1] == 2 and hasattr(scene.model, "classes_")
    if record["kept"] and is_plane:
        sides, grid = plane_grid(scene.X, 0.15, _GRID)
        answers = scene.model.estimators_[n_kept - 1].predict(grid)
        codes = np.searchsorted(scene.model.classes_, np.asarray(answers))
        _draw_regions(ax, sides, codes.astype(float))
    sizes = 6 * _POINT * weights / max(weights.mean(), 1e-300)
    x, y = scene.cells.T
    ax.scatter(x, y, s=sizes, c=scene.colors(), edgecolors="white")
    _name_axes(ax, scene)


def _draw_mistakes(ax: Axes, scene: _Scene, i: int) -> None:
    """The rows in sizes by how often each was wrong: α of the dual."""
    alpha = np.asarray(scene.record(i)["row_mistakes"], dtype=float)
    colors = scene.colors()
    draw_points(ax, scene.cells, _POINT, c=colors)
    sizes = 6 * _POINT * alpha / max(alpha.max(initial=0.0), 1.0)
    x, y = scene.cells.T
    ax.scatter(x, y, s=sizes, facecolors="none", edgecolors=INK)
    _name_axes(ax, scene)


def _draw_merge(ax: Axes, scene: _Scene, i: int) -> None:
    """The rows in the colors of the clusters after the merge; the two that merged are joined."""
    labels = np.arange(len(scene.X))
    for j in range(i + 1):
        record = scene.record(j)
        together = np.concatenate([record["one"], record["other"]])
        labels[together] = labels[together].min()
    sizes = np.bincount(labels, minlength=len(labels))
    colors = ["#B8B8B8" if sizes[k] == 1 else color_of(int(k)) for k in labels]
    draw_points(ax, scene.cells, 2 * _POINT, c=colors)
    record = scene.record(i)
    ends = [scene.cells[record[name]].mean(axis=0) for name in ("one", "other")]
    ax.plot(*np.transpose(ends), color=INK, linewidth=1.0)
    _name_axes(ax, scene)


def _draw_line(ax: Axes, scene: _Scene, i: int) -> None:
    """The line of a regression on one column."""
    record = scene.record(i)
    x = scene.X[:, 0]
    targets = np.asarray(scene.y, dtype=np.float64)
    draw_points(ax, np.column_stack([x, targets]), _POINT, color="#8A8A8A")
    ends = np.array([x.min(), x.max()])
    slope = float(np.ravel(record["coef"])[0])
    ax.plot(
        ends, float(np.ravel(record["intercept"])[0]) + slope * ends, color=color_of(0)
    )
    finish(ax, str(scene.model.design_names[0]), scene.model.schema_.target_name, None)


def _draw_objective(ax: Axes, scene: _Scene, i: int) -> None:
    """A number of the steps over the steps, up to this one."""
    column, values = _first_number(scene.steps)
    ax.plot(values, color="#D0D0D0")
    ax.plot(values[: i + 1], color=color_of(0))
    ax.plot(i, values[i], "o", color=color_of(0))
    finish(ax, scene.steps.noun, column, None)


def _first_number(record: Steps) -> tuple[str, list[float]]:
    """The first value of the steps that is a number in every one."""
    for column in record.columns:
        values = [step.get(column.name) for step in record.records]
        if all(isinstance(value, float | int) for value in values):
            return column.symbol, [float(value) for value in values]  # type: ignore[arg-type]
    return record.noun, [float(i) for i in range(len(record))]


def _draw_regions(ax: Axes, sides: Sequence[np.ndarray], region: np.ndarray) -> None:
    from matplotlib.colors import ListedColormap

    n = int(region.max()) + 1
    colors = ListedColormap([color_of(k) for k in range(max(n, 2))])
    image = region.reshape(_GRID, _GRID)
    ax.pcolormesh(
        *sides, image, cmap=colors, vmin=-0.5, vmax=max(n, 2) - 0.5, alpha=0.18
    )


def _name_axes(ax: Axes, scene: _Scene) -> None:
    names = scene.model.design_names
    i, j = scene.columns
    finish(ax, str(names[i]), str(names[j]), None)


_DRAWERS: dict[frozenset[str], Draw] = {
    frozenset({"centers"}): _draw_centers,
    frozenset({"medoids"}): _draw_medoids,
    frozenset({"means", "covariances"}): _draw_components,
    frozenset({"weights", "alpha", "kept"}): _draw_round,
    frozenset({"row_mistakes"}): _draw_mistakes,
    frozenset({"one", "other", "height"}): _draw_merge,
}


# -- animations ------------------------------------------------------------------------


def _write(
    path: Path, scene: _Scene, draw: Draw, seconds: float, title: str | None
) -> None:
    """The pictures of all steps as a GIF, or as a page with a slider."""
    if path.suffix not in (".gif", ".html"):
        raise SettingError(
            f"an animation is a .gif or an .html file, not {path.name!r}"
        )
    if not seconds > 0:
        raise SettingError(f"seconds={seconds!r} must be above 0")
    frames = _frames(scene, draw)
    if path.suffix == ".html":
        path.write_text(_page(scene, frames, seconds, title), encoding="utf-8")
        return
    from PIL import Image

    first, *others = [Image.open(io.BytesIO(frame)).convert("P") for frame in frames]
    first.save(
        path,
        save_all=True,
        append_images=others,
        duration=int(1000 * seconds),
        loop=0,
    )


def _frames(scene: _Scene, draw: Draw) -> list[bytes]:
    """A PNG of every step, all in the same frame."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    frames = []
    for i in range(len(scene.steps)):
        figure = Figure(figsize=(5.0, 4.4), layout="constrained")
        FigureCanvasAgg(figure)
        _draw_step(figure.subplots(), scene, draw, i)
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=100)
        frames.append(file.getvalue())
    return frames


def _page(scene: _Scene, frames: list[bytes], seconds: float, title: str | None) -> str:
    """A page that needs nothing but itself: pictures, a slider, and the numbers as text."""
    name = html.escape(title or scene.steps.title)
    data = [base64.b64encode(frame).decode() for frame in frames]
    pictures = "".join(
        f'<img src="data:image/png;base64,{code}" alt="{html.escape(scene.steps.noun)}'
        f' {i + 1} of {len(data)}" hidden>'
        for i, code in enumerate(data)
    )
    return _PAGE.format(
        title=name,
        pictures=pictures,
        last=len(data) - 1,
        noun=html.escape(scene.steps.noun),
        milliseconds=int(1000 * seconds),
        numbers=scene.steps.to_html(),
    )


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font-family: system-ui, sans-serif; margin: 1rem auto; max-width: 60rem;
  padding: 0 1rem }}
img {{ max-width: 100% }}
td, th {{ padding: 0 .6em }}
</style></head><body>
<h1>{title}</h1>
<div id="pictures">{pictures}</div>
<p><label>{noun} <input id="step" type="range" min="0" max="{last}" value="0"></label>
<button id="play">Play</button></p>
{numbers}
<script>
const pictures = [...document.querySelectorAll("#pictures img")];
const step = document.getElementById("step");
const play = document.getElementById("play");
let timer = null;
function show() {{ pictures.forEach((p, i) => {{ p.hidden = i !== +step.value; }}); }}
function stop() {{ clearInterval(timer); timer = null; play.textContent = "Play"; }}
step.addEventListener("input", show);
play.addEventListener("click", () => {{
  if (timer) return stop();
  if (+step.value === pictures.length - 1) step.value = 0;
  show();
  play.textContent = "Stop";
  timer = setInterval(() => {{
    if (+step.value === pictures.length - 1) return stop();
    step.value = +step.value + 1;
    show();
  }}, {milliseconds});
}});
show();
</script></body></html>
"""
