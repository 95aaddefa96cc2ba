"""Value iteration and Q-learning on a grid: a cell's value worked out, and all values so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum.reinforcement import (
    DecisionProcess,
    GridWorld,
    QLearning,
    value_iteration,
)
from lyceum.report import StepColumn, Steps
from lyceum.theatre.marks import Mark, box, drawing, label
from lyceum.theatre.method import Performance, Stage, StageSetting, TheatreMethod
from lyceum.theatre.scene import Scene, SceneQuestion, factor, figure

_ARROWS = "←↓→↑"
_WORDS = ("left", "down", "right", "up")
_MOST_SCENES = 80
_SIZE = 104.0  # pixels of a cell
_GRIDS = {
    "corner": ("..G", ".#X", "S.."),
    "cliff": ("....", "S..G", "XXXX"),
    "two rows": ("S..", "..G"),
}


def _name(world: GridWorld, state: int) -> str:
    """A cell by row and column, counted from 1."""
    row, column = divmod(state, world.shape[1])
    return f"({row + 1}, {column + 1})"


def _world(stage: Stage) -> GridWorld:
    return GridWorld(
        _GRIDS[stage["grid"]],
        step=stage["reward"],
        slip=stage.settings.get("slip", 0.0),
    )


def _grid(
    world: GridWorld, texts: list[list[str]], values: Any, now: int
) -> dict[str, Any]:
    """The cells with their texts, the fuller the larger their value."""
    marks: list[Mark] = []
    largest = max(float(np.abs(values).max(initial=0.0)), 1e-12)
    for state, lines in enumerate(texts):
        row, column = divmod(state, world.shape[1])
        letter = world.cells[row][column]
        tone = {"#": "wall"}.get(letter, "now" if state == now else "")
        shown = {"G": ["goal", *lines], "X": ["pit", *lines], "#": [""]}.get(
            letter, lines
        )
        value = float(values[state])
        marks.append(
            box(
                30 + _SIZE * (column + 0.5),
                24 + _SIZE * (row + 0.5),
                shown,
                width=_SIZE - 4,
                height=_SIZE - 4,
                series=0 if value >= 0 else 1,
                tone=tone,
                strength=0.45 * abs(value) / largest if letter != "#" else 0.0,
            )
        )
    rows, columns = world.shape
    marks += [label(30 + _SIZE * (c + 0.5), 16, f"{c + 1}") for c in range(columns)]
    marks += [label(14, 30 + _SIZE * (r + 0.5), f"{r + 1}") for r in range(rows)]
    title = "The grid: rows and columns counted from the upper left"
    return drawing(title, 40 + _SIZE * columns, 34 + _SIZE * rows, marks)


def _is_free(world: GridWorld, state: int) -> bool:
    row, column = divmod(state, world.shape[1])
    return world.cells[row][column] in "S."


def _sweeps(stage: Stage) -> Performance:
    """A scene per sweep, with the cell that changes most worked out."""
    world = _world(stage)
    gamma = stage["gamma"]
    process = DecisionProcess.of_environment(world)
    policy = value_iteration(process, gamma, tol=1e-3, record=True)
    records = policy.record[: _MOST_SCENES + 1]
    scenes = []
    for number, record in enumerate(records):
        values = record["values"]
        before = records[max(number - 1, 0)]["values"]
        q = np.array(
            [
                [_backup(world, s, a, before, gamma) for a in range(4)]
                for s in range(len(values))
            ]
        )
        changes = np.abs(values - before)
        state = int(changes.argmax())
        texts = []
        for s, value in enumerate(values):
            best = _ARROWS[int(q[s].argmax())] if np.ptp(q[s]) > 0 else ""
            texts.append([figure(value), best] if _is_free(world, s) else [])
        now = state if number else -1
        picture = _grid(world, texts, values, now)
        if number == 0:
            lines = [
                "Every value begins at 0.",
                f"V(s) ← the largest over the actions of r + γ V(s'), γ = {figure(gamma)}; a"
                " goal gives"
                f" +1, a pit −1, a step {figure(stage['reward'])}.",
            ]
            scenes.append(Scene("The start", lines, [picture]))
            continue
        lines = [f"Cell {_name(world, state)}, which changes most:"]
        for a in range(4):
            terms = [
                f"{_share(chance)}({figure(reward)} + {figure(gamma)} ·"
                f" {factor(0.0 if ended else before[after])})"
                for chance, after, reward, ended in world.P[state][a]
            ]
            lines.append(f"{_WORDS[a]}: {' + '.join(terms)} = {figure(q[state, a])}")
        lines.append(
            f"V{_name(world, state)} ← {figure(values[state])}, the largest: go"
            f" {_WORDS[int(q[state].argmax())]}."
        )
        lines.append(f"The largest change is {figure(record['change'])}.")
        if number == len(policy.record) - 1:
            lines.append(
                "Nothing changes any more by much: these are the values of the best policy."
            )
        question = SceneQuestion(
            f"What is V{_name(world, state)} after sweep {number}? It was {figure(before[state])}.",
            float(values[state]),
            [
                (
                    float(q[state].mean()),
                    "that is the mean over the actions, not the largest",
                )
            ],
        )
        scenes.append(
            Scene(
                f"Sweep {number}: all cells at once",
                lines,
                [picture],
                question=question,
            )
        )
    return Performance(scenes, _sweep_table(world, policy, records), policy)


def _sweep_table(world: GridWorld, policy: Any, records: list[Any]) -> Steps:
    """The values of the free cells after every sweep, a column each."""
    steps = policy.steps()
    columns = [column for column in steps.columns if column.name == "change"]
    shown = [
        {
            "step": r["step"],
            "change": r["change"],
            **{f"V{s}": v for s, v in enumerate(r["values"].tolist())},
        }
        for r in records
    ]
    formula = "max over a of r + γ V(s')"
    columns += [
        StepColumn(f"V{s}", f"V{_name(world, s)}", formula)
        for s in range(len(records[0]["values"]))
        if _is_free(world, s)
    ]
    return Steps(steps.title, steps.noun, columns, shown, {})


def _backup(
    world: GridWorld, state: int, action: int, values: np.ndarray, gamma: float
) -> float:
    return sum(
        chance * (reward + gamma * (0.0 if ended else values[after]))
        for chance, after, reward, ended in world.P[state][action]
    )


def _share(chance: float) -> str:
    return "" if chance == 1.0 else f"{figure(chance)} · "


def _learning(stage: Stage) -> Performance:
    """A scene per step of an episode: the update of one cell of the table."""
    world = _world(stage)
    model = QLearning(
        discount=stage["gamma"],
        learning_rate=stage["eta"],
        epsilon=stage["epsilon"],
        n_episodes=stage["episodes"],
        max_steps=40,
        random_state=stage.seed,
        record=True,
    )
    model.fit(world)
    q = np.zeros((len(model.q_), 4))
    lines = [
        "Every Q(s, a) begins at 0.",
        "After a step: Q(s, a) ← Q(s, a) + η (r + γ max Q(s', ·) − Q(s, a)), η ="
        f" {figure(stage['eta'])},"
        f" γ = {figure(stage['gamma'])}.",
    ]
    scenes = [Scene("The start: nothing is known", lines, [_q_picture(world, q, -1)])]
    for record in model.record_[:_MOST_SCENES]:
        state = record["state"]
        q[state, record["action"]] = record["value"]
        scenes.append(_update(stage, world, record, _q_picture(world, q, state)))
    columns = [column for column in model.steps().columns if column.name != "episode"]
    keep: list[dict[str, Any]] = [{"step": 0}]
    for i, record in enumerate(model.record_[:_MOST_SCENES]):
        names = {
            "state": _name(world, record["state"]),
            "next": _name(world, record["next"]),
        }
        keep.append(
            {**record, **names, "action": _WORDS[record["action"]], "step": i + 1}
        )
    return Performance(
        scenes, Steps("Steps of Q-learning", "step", columns, keep, {}), model
    )


def _update(
    stage: Stage, world: GridWorld, record: dict[str, Any], picture: Any
) -> Scene:
    gamma = figure(stage["gamma"])
    eta = figure(record["rate"])
    here = _name(world, record["state"])
    after = _name(world, record["next"])
    word = _WORDS[record["action"]]
    target = record["reward"] + stage["gamma"] * record["worth"]
    before = record["before"]
    is_end = not _is_free(world, record["next"])
    worth = (
        "the episode ends there, worth 0"
        if is_end
        else f"max Q({after}, ·) = {figure(record['worth'])}"
    )
    lines = [
        f"From {here}, {word}, to {after}: r = {figure(record['reward'])}, {worth}.",
        f"r + γ max Q = {figure(record['reward'])} + {gamma} · {factor(record['worth'])} ="
        f" {figure(target)}",
        f"Q({here}, {word}) ← {figure(before)} + {eta} · ({figure(target)} − {factor(before)}) ="
        f" {figure(record['value'])}",
    ]
    question = SceneQuestion(
        f"From {here}, {word}, to {after}, r = {figure(record['reward'])}: Q({here}, {word}) is"
        f" {figure(before)}, {worth}. What does it become? η = {eta}, γ = {gamma}.",
        record["value"],
        [
            (target, "that is the target; only a share η of the way to it is gone"),
            (
                before + record["rate"] * (record["reward"] + record["worth"] - before),
                "γ is missing",
            ),
        ],
    )
    title = f"Episode {record['episode'] + 1}: from {here} {word}"
    return Scene(title, lines, [picture], question=question)


def _q_picture(world: GridWorld, q: np.ndarray, now: int) -> dict[str, Any]:
    """Every cell with the values of its four actions."""
    texts = []
    for state, values in enumerate(q):
        left, down, right, up = map(figure, values)
        lines = [f"↑ {up}", f"← {left}", f"→ {right}", f"↓ {down}"]
        texts.append(lines if _is_free(world, state) else [])
    return _grid(world, texts, q.max(axis=1), now)


_GRID = StageSetting("grid", "corner", "the grid", tuple(_GRIDS))
_GAMMA = StageSetting("gamma", 0.9, "discount γ", low=0, high=0.99)
_REWARD = StageSetting("reward", 0.0, "reward of a step", low=-1, high=0)
METHODS = (
    TheatreMethod(
        "value_iteration",
        "Value iteration",
        "The best policy of a known world: the value of every cell from those of its"
        " neighbors, sweep"
        " by sweep.",
        _sweeps,
        settings=(
            _GRID,
            _GAMMA,
            _REWARD,
            StageSetting("slip", 0.0, "chance to slip aside", low=0, high=1),
        ),
    ),
    TheatreMethod(
        "q_learning",
        "Q-learning",
        "The best policy of an unknown world, by trying: every step corrects the value of the"
        " action"
        " taken.",
        _learning,
        settings=(
            StageSetting("grid", "two rows", "the grid", tuple(_GRIDS)),
            _GAMMA,
            StageSetting("reward", -0.1, "reward of a step", low=-1, high=0),
            StageSetting("eta", 0.5, "learning rate η", low=0.01, high=1),
            StageSetting("epsilon", 0.3, "chance of a random action ε", low=0, high=1),
            StageSetting("episodes", 6, "episodes", low=1, high=50),
        ),
    ),
)
