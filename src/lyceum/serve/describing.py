"""What a model takes and gives: its columns, an example, and OpenAPI 3.1 made of them."""

from __future__ import annotations

from typing import Any

from lyceum import __version__
from lyceum._core.text import plain
from lyceum.serve.shelf import ServedModel, Shelf


def model_card(served: ServedModel, shelf: Shelf) -> dict[str, Any]:
    """The line of a model in the list of all."""
    fitted = served.fitted
    target = getattr(fitted.learner, "schema_", fitted.schema).target
    card: dict[str, Any] = {
        "name": served.name,
        "version": served.version,
        "loaded": served.loaded,
        "learner": fitted.name,
        "target": None if target is None else target.name,
    }
    if fitted.classes is not None:
        card["classes"] = plain(fitted.classes)
    if served.name in shelf.faults:
        card["fault"] = shelf.faults[served.name]
    return card


def model_description(served: ServedModel, shelf: Shelf) -> dict[str, Any]:
    """Everything about a model: columns, example, steps, costs and summary."""
    return {**model_card(served, shelf), **served.as_dict()}


# -- OpenAPI ---------------------------------------------------------------------------

_RECORDS = {
    "application/json": "One record, a list of them, or {record or records, loss, doubt}",
    "text/csv": "Rows with a header line",
    "application/vnd.apache.arrow.stream": "An Arrow stream",
    "application/vnd.apache.parquet": "A Parquet file",
}


def openapi(shelf: Shelf, has_key: bool = False) -> dict[str, Any]:
    """OpenAPI 3.1 of all models, by their real columns."""
    paths: dict[str, Any] = {
        "/models": {"get": _operation("List the models", "The models")},
    }
    schemas: dict[str, Any] = {"Decision": _decision_schema()}
    for name, served in sorted(shelf.models.items()):
        schemas[f"{name}.record"] = record_schema(served)
        body = _body(name, served)
        about = f"/models/{name}"
        paths[about] = {"get": _operation(f"Describe {name}", "Columns and summary")}
        for verb, says in (("predict", "Decide"), ("explain", "Decide and explain")):
            operation = _operation(f"{says} with {name}", "The decision")
            operation["requestBody"] = body
            paths[f"{about}/{verb}"] = {"post": operation}
    made: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "Lyceum models", "version": __version__},
        "paths": paths,
        "components": {"schemas": schemas},
    }
    if has_key:
        made["components"]["securitySchemes"] = {
            "key": {"type": "http", "scheme": "bearer"}
        }
        made["security"] = [{"key": []}]
    return made


def record_schema(served: ServedModel) -> dict[str, Any]:
    """The JSON Schema of a record of a model."""
    properties = {}
    for facts in served.columns():
        properties[facts["name"]] = _property(facts)
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "examples": [served.example()],
    }


def _property(facts: dict[str, Any]) -> dict[str, Any]:
    categories = facts.get("categories")
    if categories is not None:
        # other categories are answered too, with a warning
        kinds = sorted({_json_type(value) for value in categories}) or ["string"]
        return {"type": [*kinds, "null"], "examples": categories}
    if facts["kind"] == "text":
        return {"type": ["string", "null"]}
    if facts["kind"] == "time":
        return {"type": ["string", "null"], "description": "a date or time"}
    made: dict[str, Any] = {"type": ["number", "null"]}
    if "range" in facts:
        low, high = facts["range"]
        made["description"] = f"{low:g} to {high:g} in the training rows"
        made["x-range"] = [low, high]
    return made


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else "string"


def _body(name: str, served: ServedModel) -> dict[str, Any]:
    record = {"$ref": f"#/components/schemas/{name}.record"}
    content: dict[str, Any] = {
        kind: {"schema": {"description": says}} for kind, says in _RECORDS.items()
    }
    content["application/json"] = {
        "schema": {"anyOf": [record, {"type": "array", "items": record}]},
        "example": served.example(),
    }
    return {"required": True, "content": content}


def _operation(summary: str, answer: str) -> dict[str, Any]:
    decision = {"$ref": "#/components/schemas/Decision"}
    content = {"application/json": {"schema": decision}}
    if "ecide" not in summary:
        content = {"application/json": {"schema": {"type": "object"}}}
    return {
        "summary": summary,
        "responses": {
            "200": {"description": answer, "content": content},
            "default": {"description": "A sentence that says what is wrong"},
        },
    }


def _decision_schema() -> dict[str, Any]:
    warning = {"type": "object", "required": ["column", "warning"]}
    return {
        "type": "object",
        "properties": {
            "predicted": {"description": "The class or the value"},
            "probabilities": {"type": "object"},
            "action": {"description": "What to do under the costs"},
            "risk": {"type": "number"},
            "rejected": {"type": "boolean"},
            "warnings": {"type": "array", "items": warning},
            "model": {"type": "string"},
            "version": {"type": "string"},
        },
    }
