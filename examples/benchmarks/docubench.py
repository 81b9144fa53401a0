#!/usr/bin/env python3
"""DocuBench (github.com/DocuPipe/DocuBench): a gold set of it, and its metric over our results.

`documents/ID.EXT`, `schemas/ID.json` and `labels/ID.json` belong together; each document has its own schema.
"""

import json
import re
import sys
from typing import Any

import common

split = "a type of file, such as `pdf` or `xlsx`: only documents of it"
note = (
    "accuracy is the mean over documents of the share of fields that are right: texts without case, blanks and\n"
    "punctuation, rows of a list in any order. A document without a result counts as an empty one."
)


def options(parser) -> None:
    """Whether the schema is among the documents of a case."""
    text = "put each document's schema beside it, as a document `schema.json`"
    parser.add_argument("--with-schema", action="store_true", help=text)


def load(arguments) -> list[common.Case]:
    """The documents with their schemas and labels, by name."""
    root = arguments.benchmark
    for folder in ("documents", "schemas", "labels"):
        if not (root / folder).is_dir():
            raise common.Refused(f"{root} has no folder `{folder}`; is it a copy of DocuBench?")
    documents = {path.stem: path for path in sorted((root / "documents").iterdir()) if path.is_file()}
    cases = []
    for path in sorted((root / "labels").glob("*.json")):
        source = documents.get(path.stem)
        if source is None:
            raise common.Refused(f"The document of the label {path} is missing.")
        if arguments.split and source.suffix.lower() != "." + arguments.split.lower().lstrip("."):
            continue
        schema, label = common.read_json(root / "schemas" / path.name), common.read_json(path)
        files = {source.name: source}
        if arguments.with_schema:
            files["schema.json"] = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        expected = common.fitted(schema, label, schema)
        cases.append(common.Case(common.safe_name(path.stem), files, expected, schema, label, rules(schema)))
    if arguments.split and not cases:
        raise common.Refused(f"{root} has no documents of the type `{arguments.split}`.")
    return cases


def rules(schema: dict, where: str = "$") -> dict[str, dict]:
    """How we compare each field: texts without case, blanks and punctuation, numbers to six places."""
    if "properties" in schema:
        found: dict[str, dict] = {}
        for key, child in schema["properties"].items():
            found |= rules(child, f"{where}.{key}")
        return found
    kinds = set(common.types(schema)) - {"null"}
    if kinds == {"array"}:
        return rules(schema.get("items", {}), f"{where}[*]")
    if kinds == {"string"}:
        return {where: {"compare": "identifier"}}
    return {where: {"compare": "number", "tolerance": 0.000001}} if kinds and kinds <= {"number", "integer"} else {}


def tidy(value: Any) -> Any:
    """A value as it is compared: nothing empty but null, numbers to six places, texts by their letters and digits."""
    if isinstance(value, dict):
        return {key: new for key, old in value.items() if old != "" and (new := tidy(old)) not in ([], {})}
    if isinstance(value, list):
        return [tidy(item) for item in value]
    if isinstance(value, str):
        return re.sub(r"\W", "", value.lower())
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return round(float(value), 6)
    return value


def empty(value: Any) -> bool:
    """Whether there is nothing."""
    return value is None or value in ("", [], {})


def lists(schema: dict, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The paths of all lists that are not within a list."""
    if "array" in common.types(schema):
        return [path]
    return [found for key, child in schema.get("properties", {}).items() for found in lists(child, (*path, key))]


def at(value: Any, path: tuple[str, ...]) -> Any:
    """What stands at a path, or None."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def single(schema: dict, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The paths of all fields outside of lists. An object that may also be null is one field, compared as a whole."""
    kinds = common.types(schema)
    if "array" in kinds or not schema:
        return []
    if "object" not in kinds:
        return [path]
    inner = [found for key, child in schema.get("properties", {}).items() for found in single(child, (*path, key))]
    return inner if kinds == ["object"] and schema["type"] == "object" or not inner else [path]


def leaves(item: Any, prefix: str = "") -> dict[str, Any]:
    """The fields of a row by their paths; a list within it is one field, as JSON text."""
    if not isinstance(item, dict):
        return {prefix: item}
    found: dict[str, Any] = {}
    for key, value in item.items():
        path = f"{prefix}.{key}" if prefix else key
        if isinstance(value, dict):
            found |= leaves(value, path)
        else:
            found[path] = json.dumps(value, sort_keys=True) if isinstance(value, list) else value
    return found


def likeness(label: dict[str, Any], found: dict[str, Any]) -> float:
    """The share of the fields of either row that are the same in both; fields that are empty in both don't count."""
    keys = [key for key in label.keys() | found.keys() if not (empty(label.get(key)) and empty(found.get(key)))]
    return sum(label.get(key) == found.get(key) for key in keys) / len(keys) if keys else 1.0


def rows_score(labels: list, found: list) -> float:
    """The rows paired by likeness, the likest first; a row that is left over on either side scores 0."""
    if not labels or not found:
        return 1.0 if not labels and not found else 0.0
    left, right = [leaves(item) for item in labels], [leaves(item) for item in found]
    ranked = sorted(
        ((likeness(one, other), i, j) for i, one in enumerate(left) for j, other in enumerate(right)),
        key=lambda pair: -pair[0],
    )
    total, used_left, used_right = 0.0, set(), set()
    for score, i, j in ranked:
        if i not in used_left and j not in used_right:
            total += score
            used_left.add(i)
            used_right.add(j)
    return total / max(len(labels), len(found))


def measure(case: common.Case, found: Any) -> float:
    """The share of a document's fields that are right. A list weighs as many fields as a labelled row has, times its rows."""
    label, found = tidy(case.gold), tidy(found if isinstance(found, dict) else {})
    # Of several lists below the same field of the document, DocuBench counts only the last.
    parts = {path[0] if path else "": list_part(at(label, path), at(found, path)) for path in lists(case.schema)}
    right = total = 0
    for path in single(case.schema):
        one, other = at(label, path), at(found, path)
        if not (empty(one) and empty(other)):
            total += 1
            right += one == other
    parts[None] = (right / total if total else 1.0, total)
    weight = sum(size for _, size in parts.values())
    return sum(score * size for score, size in parts.values()) / weight if weight else 1.0


def list_part(labels: Any, found: Any) -> tuple[float, float]:
    """Score and weight of a list."""
    labels, found = (value if isinstance(value, list) else [] for value in (labels, found))
    counts = [max(1, sum(not empty(value) for value in leaves(item).values())) for item in labels]
    fields = sum(counts) / len(counts) if counts else 1.0
    return rows_score(labels, found), max(len(labels), len(found)) * fields


def columns(measures: list[float]) -> dict[str, float]:
    """The metric over documents."""
    return {"accuracy": sum(measures) / len(measures)}


if __name__ == "__main__":
    common.run(sys.modules[__name__])
