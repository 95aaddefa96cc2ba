"""Networks: learn or draw one, click evidence, see posteriors move, paths and the working."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from lyceum._core.text import plain
from lyceum.bayesnets import BayesNet, TableNode
from lyceum.plot import layered_layout
from lyceum.web import Refused
from lyceum.workbench.action import Action
from lyceum.workbench.address import Address
from lyceum.workbench.desk import Desk, stamp
from lyceum.workbench.page_parts import Page, answers
from lyceum.workbench.pages.data import repaired_table
from lyceum.workflows import (
    check_independence,
    learn_network,
    query_network,
    read_network,
)

_BUILT_IN = ("asia", "alarm")
_LETTER = 8.0  # pixels of a letter of a name
_NARROWEST = 120.0


def show_graph(desk: Desk, address: Address) -> dict[str, Any]:
    """The nodes of a network with their states, and where they are drawn."""
    net = _net(desk, address)
    widths = {name: max(_NARROWEST, 40 + _LETTER * len(name)) for name in net.names}
    layout = layered_layout(net.parents, widths, gap=18.0)
    states = {
        node.name: list(map(str, node.states))
        for node in net.nodes
        if isinstance(node, TableNode)
    }
    nodes = [
        {
            "name": node.name,
            "states": states.get(node.name),
            "parents": list(node.parents),
            "x": layout.x[node.name],
            "width": widths[node.name],
            "layer": layout.layer[node.name],
        }
        for node in net.nodes
    ]
    return {
        "nodes": nodes,
        "bends": [
            {"from": a, "to": b, "points": points}
            for (a, b), points in layout.bends.items()
        ],
        "width": layout.width,
        "n_layers": layout.n_layers,
        "n_parameters": net.n_parameters,
        "n_joint_parameters": net.n_joint_parameters,
        "factorization": net.factorization(),
    }


def show_posteriors(desk: Desk, address: Address) -> dict[str, Any]:
    """P(state | evidence) of every variable before and after, and the call that says so."""
    net = _net(desk, address)
    evidence = _pairs(address, "evidence")
    do = _pairs(address, "do")
    before = desk.once(("prior", *_key(desk, address)), lambda: query_network(net))
    after = query_network(net, evidence=evidence, do=do)
    action = _query_action(address, (), evidence, do)
    return {
        "before": {name: _numbers(said) for name, said in before.items()},
        "after": {name: _numbers(said) for name, said in after.items()},
        "evidence": evidence,
        "do": do,
        "action": action.as_dict(),
    }


def show_working(desk: Desk, address: Address) -> dict[str, Any]:
    """The posterior of one variable by variable elimination, step by step."""
    variable = address.text("query") or ""
    evidence = _pairs(address, "evidence")
    do = _pairs(address, "do")
    net = _net(desk, address)
    working = query_network(net, variable, evidence=evidence, do=do, explain=True)
    action = _query_action(address, (variable,), evidence, do, explain=True)
    return {**working.as_dict(), "action": action.as_dict()}


def show_separation(desk: Desk, address: Address) -> dict[str, Any]:
    """Whether two variables are independent given what is observed, path by path."""
    net = _net(desk, address)
    do = _pairs(address, "do")
    if do:
        net = net.do(**do)
    given = [*_pairs(address, "evidence"), *do]
    between = (address.text("first") or "", address.text("second") or "")
    verdict = check_independence(net, *between, given)
    action = Action(
        "bayesnet independent",
        "lyceum.workflows.check_independence",
        (_name(address), *between),
        {"given": given},
        result="verdict",
    )
    # an intervention cuts edges, which the command has no option for
    return {**verdict.as_dict(), "action": None if do else action.as_dict()}


def columns(desk: Desk, address: Address) -> dict[str, Any]:
    """The columns of a table, as nodes of a graph to draw, and the call that learns it."""
    table = repaired_table(desk, address).data.table
    return {
        "columns": table.column_names,
        "out": _out(address),
        "action": _learn_action(address).as_dict(),
    }


def learn(desk: Desk, address: Address) -> dict[str, Any]:
    """Learn a network from a table, and write it beside the table."""
    options = _learn_action(address).given
    path = desk.path(options.pop("out"))
    table = repaired_table(desk, address).data
    learned = learn_network(table, out=path, **options)
    desk.events.add("files", {"name": desk.name_of(path)})
    return {"name": desk.name_of(path), **learned.as_dict()}


# -- parts -----------------------------------------------------------------------------


def _name(address: Address) -> str:
    name = address.text("net")
    if name is None:
        raise Refused(422, "the address names no network: choose one")
    return name


def _key(desk: Desk, address: Address) -> tuple[Any, ...]:
    name = _name(address)
    return (name,) if name in _BUILT_IN else stamp(desk.file(name))


def _net(desk: Desk, address: Address) -> BayesNet:
    name = _name(address)
    source = name if name in _BUILT_IN else desk.file(name)
    return desk.once(("net", *_key(desk, address)), lambda: read_network(source))


def _pairs(address: Address, name: str) -> dict[str, str]:
    pairs = {}
    for text in address.texts(name):
        variable, between, state = text.partition("=")
        if not between:
            raise Refused(422, f"cannot read {name}={text}: write variable=state")
        pairs[variable] = state
    return pairs


def _numbers(posterior: Any) -> dict[str, Any]:
    """The probabilities of the states, or mean and deviation of a Gaussian variable."""
    if hasattr(posterior, "values"):
        return {"probabilities": plain(posterior.values.ravel())}
    variance = float(posterior.covariance[0, 0])
    return {"mean": float(posterior.mean[0]), "deviation": variance**0.5}


def _query_action(
    address: Address,
    variables: tuple[str, ...],
    evidence: dict[str, str],
    do: dict[str, str],
    *,
    explain: bool = False,
) -> Action:
    return Action(
        "bayesnet query",
        "lyceum.workflows.query_network",
        (_name(address), *variables),
        {"evidence": evidence, "do": do, "explain": explain or None},
        result="answer",
    )


def _out(address: Address) -> str:
    stem = PurePosixPath(address.file).name.partition(".")[0]
    return f"{stem}-drawn.bif" if address.texts("edge") else f"{stem}-learned.bif"


def _learn_action(address: Address) -> Action:
    """The call that learns a network: by a method, or the tables of a graph that was drawn."""
    edges = [tuple(text.split("->", 1)) for text in address.texts("edge")]
    if any(len(edge) != 2 for edge in edges):
        raise Refused(422, "an edge is written from->to")
    options: dict[str, Any] = {"method": address.text("method")}
    if edges:
        options = {"edges": tuple(edges)}
    return Action(
        "bayesnet learn",
        "lyceum.workflows.learn_network",
        (address.file,),
        {
            "target": address.text("target"),
            **options,
            "ignore": address.texts("ignore"),
            "out": _out(address),
            "force": True,
        },
        {"edges": "--edge"},
        result="learned",
    )


PAGE = Page(
    "networks",
    "Networks",
    [
        answers("/api/networks", show_graph),
        answers("/api/networks/posteriors", show_posteriors),
        answers("/api/networks/working", show_working),
        answers("/api/networks/separation", show_separation),
        answers("/api/networks/columns", columns),
        answers("/api/networks/learn", learn, methods=["POST"]),
    ],
)
