#!/usr/bin/env python3
"""ExtractBench (github.com/ContextualAI/extract-bench): gold sets of it, and its metric over our results.

`dataset/DOMAIN/SCHEMA/` has one `*-schema.json`, with an `evaluation_config` for each field, and a folder `pdf+gold` with
`NAME.pdf` and `NAME.gold.json`. Where the benchmark asks a judge, a language model, this script measures words instead:
`string_semantic`, `string_llm` and `array_llm` are near to its numbers, and not the same.
"""

import re
import sys
from datetime import datetime
from difflib import SequenceMatcher
from math import isclose
from pathlib import Path
from typing import Any

import common

split = "one of its schemas, such as `finance/credit_agreement`; without it, all documents with a schema each"
note = (
    "Means over documents: `items` is the score with each item of a list counted, `fields` the score with each field of the\n"
    "schema counted once, `passed` the share of fields that pass. A document without a result counts as 0. These numbers\n"
    "differ from the benchmark's own, which has a judge, a language model, for string_semantic, string_llm and array_llm;\n"
    "here the words are compared."
)
MISSING = object()
JUDGED = {"string_semantic", "string_llm"}
PRESETS = {"string_fuzzy": {"threshold": 0.8}, "number_tolerance": {"tolerance": 0.001}}
DEFAULTS = {
    "string": "string_semantic",
    "integer": "integer_exact",
    "number": "number_tolerance",
    "boolean": "boolean_exact",
    "array": "array_llm",
}
DATES = ("%Y-%m-%d", "%B %d %Y", "%b %d %Y", "%d %B %Y", "%d %b %Y", "%Y/%m/%d")


def options(parser) -> None:
    """ExtractBench needs no option of its own."""


def load(arguments) -> list[common.Case]:
    """The documents of one schema, or of all."""
    root = arguments.benchmark / "dataset" if (arguments.benchmark / "dataset").is_dir() else arguments.benchmark
    found = sorted(root.glob("*/*/*-schema.json"))
    if not found:
        raise common.Refused(f"{arguments.benchmark} has no dataset/DOMAIN/SCHEMA/*-schema.json; is it a copy of ExtractBench?")
    splits = {"/".join(path.relative_to(root).parts[:2]): path for path in found}
    if arguments.split and arguments.split not in splits:
        raise common.Refused(f"There is no schema `{arguments.split}`; there are {', '.join(splits)}.")
    cases = []
    for name, path in splits.items():
        if arguments.split in (None, name):
            cases += load_schema(path)
    return cases


def load_schema(path: Path) -> list[common.Case]:
    """The documents of a schema, which may stand within an object that names it."""
    schema = common.read_json(path)
    if not isinstance(schema, dict):
        raise common.Refused(f"{path} is not a schema.")
    schema = schema.get("schema_definition", schema)
    stripped, rules = without_configs(schema), field_rules(schema, schema)
    cases = []
    for gold_path in sorted((path.parent / "pdf+gold").glob("*.gold.json")):
        gold = common.read_json(gold_path)
        stem = gold_path.name.removesuffix(".gold.json")
        source = gold_path.with_name(stem + ".pdf")
        expected = common.fitted(stripped, gold, stripped)
        cases.append(common.Case(common.safe_name(stem), {source.name: source}, expected, stripped, (schema, gold), rules))
    return cases


def without_configs(schema: Any) -> Any:
    """The schema as JSON Schema has it: without `evaluation_config`, and with null among the types instead of `nullable`."""
    if isinstance(schema, list):
        return [without_configs(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    new = {}
    for key, value in schema.items():
        if key in ("properties", "$defs", "defs") and isinstance(value, dict):
            new[key] = {name: without_configs(child) for name, child in value.items()}
        elif key not in ("evaluation_config", "nullable"):
            new[key] = without_configs(value)
    if schema.get("nullable") is True and "type" in new:
        new["type"] = [*common.types(new), "null"]
        if "enum" in new:
            new["enum"] = [*new["enum"], None]
    return new


def metrics(schema: dict) -> list[tuple[str, dict]]:
    """The metrics of a field with their parameters: those that it names, else that of its type, or on which its choices agree."""
    config = schema.get("evaluation_config")
    choices = schema.get("anyOf")
    if config is None and choices:
        named = [choice.get("evaluation_config") for choice in choices if common.types(choice) != ["null"]]
        config = named[0] if named and all(one == named[0] for one in named) else None
    elif config is None and isinstance(schema.get("type"), str):
        config = DEFAULTS.get(schema["type"])
    if config is None or config == "skip":
        return []
    if isinstance(config, str):
        address = schema.get("format") in ("uri", "url", "iri") and config == "string_exact"
        return [("string_url" if address else config, PRESETS.get(config, {}))]
    return [(one["metric_id"], one.get("params") or {}) for one in config.get("metrics", [])]


def field_rules(schema: dict, root: dict, where: str = "$") -> dict[str, dict]:
    """The metrics of the fields as our rules, as near as they come."""
    schema = common.resolved(schema, root)
    rules: dict[str, dict] = {}
    for key, child in schema.get("properties", {}).items():
        rules |= field_rules(child, root, f"{where}.{key}")
    for choice in [*schema.get("anyOf", []), schema]:
        choice = common.resolved(choice, root)
        if isinstance(choice.get("items"), dict):
            rules |= field_rules(choice["items"], root, f"{where}[*]")
        elif choice is not schema and "properties" in choice:
            rules |= field_rules(choice, root, where)
    if schema.get("evaluation_config") == "skip":
        return {where: {"compare": "ignored"}}
    for metric, params in metrics(schema)[:1]:
        rule = {
            "string_exact": {"compare": "exact"},
            "string_case_insensitive": {"compare": "text", "least": 1.0},
            "string_fuzzy": {"compare": "text", "least": params.get("threshold", 0.8)},
            "string_url": {"compare": "identifier"},
            "number_exact": {"compare": "number", "tolerance": 0},
            "integer_exact": {"compare": "number", "tolerance": 0},
            "number_tolerance": {"compare": "number", "tolerance": params.get("tolerance", 0.000001)},
            "boolean_exact": {"compare": "exact"},
        }.get(metric)
        if metric in JUDGED:
            rule = {"compare": "text", "least": params.get("pass_threshold", 0.7)}
        if rule:
            rules[where] = rule
    return rules


def absent(value: Any) -> bool:
    """Whether a field is left out, null, or an empty list, which all are the same to the benchmark."""
    return value is MISSING or value is None or value == []


def flat(value: Any) -> str:
    """All that a value says, as one text."""
    if isinstance(value, dict):
        return " ".join(flat(item) for item in value.values())
    return " ".join(flat(item) for item in value) if isinstance(value, list) else "" if value is None else str(value)


def words(value: Any) -> list[str]:
    """The words of a value without case and punctuation, with numbers in one piece."""
    return re.findall(r"\w+(?:\.\d+)?", re.sub(r"(?<=\d),(?=\d{3})", "", flat(value).casefold()))


def date(text: str) -> datetime | None:
    """The date that a text is, in the forms in which day and month can't be taken for each other."""
    plain = " ".join(text.replace(",", " ").split())
    for form in DATES:
        try:
            return datetime.strptime(plain, form)
        except ValueError:
            pass
    return None


def likeness(gold: Any, found: Any) -> float:
    """In place of the judge: 1 for the same words or the same date, 0 for two dates, else the share of common words (F1)."""
    left, right = words(gold), words(found)
    if "".join(left) == "".join(right):
        return 1.0
    dates = [date(value) if isinstance(value, str) else None for value in (gold, found)]
    if None not in dates:
        return float(dates[0] == dates[1])
    common_words = sum(min(left.count(word), right.count(word)) for word in set(left) & set(right))
    return 2 * common_words / (len(left) + len(right)) if left or right else 1.0


def number(value: Any, kind: type) -> float | int | None:
    """A value as a number, where it is one. Two values that are none count as equal, as the benchmark has it."""
    try:
        return kind(value)
    except (TypeError, ValueError, OverflowError):
        return None


def address(value: Any) -> str:
    """An address without its protocol, `www.` and the last slash."""
    return re.sub(r"^[a-z]+://", "", str(value).strip().lower()).removeprefix("www.").rstrip("/")


def compare(metric: str, params: dict, schema: dict, gold: Any, found: Any, root: dict) -> tuple[float, bool]:
    """Score and verdict of one metric for one field."""
    if absent(gold) or absent(found):
        same = absent(gold) and absent(found)
        return float(same), same
    if metric in JUDGED:
        score = likeness(gold, found)
        return score, score >= float(params.get("pass_threshold", 0.7))
    if metric == "array_llm":
        score = list_score(schema, gold, found, root)
        return score, score >= float(params.get("pass_threshold", 0.7))
    if metric == "string_fuzzy":
        left, right = str(gold), str(found)
        if not params.get("case_sensitive", False):
            left, right = left.lower(), right.lower()
        score = SequenceMatcher(None, left, right).ratio()
        return score, score >= float(params.get("threshold", 0.8))
    if metric == "number_tolerance":
        left, right, tolerance = number(gold, float), number(found, float), float(params.get("tolerance", 0.000001))
        if left is None or right is None:
            same = left is right
        else:
            same = abs(left - right) <= tolerance or isclose(abs(left - right), tolerance, rel_tol=1e-9, abs_tol=1e-12)
    elif metric in ("number_exact", "integer_exact"):
        kind = float if metric == "number_exact" else int
        same = number(gold, kind) == number(found, kind)
    elif metric == "boolean_exact":
        same = (gold if isinstance(gold, bool) else None) is (found if isinstance(found, bool) else None)
    elif metric == "string_case_insensitive":
        same = str(gold).casefold() == str(found).casefold()
    elif metric == "string_exact":
        same = str(gold) == str(found)
    elif metric == "string_url":
        same = address(gold) == address(found)
    else:
        raise common.Refused(f"The schema names the metric `{metric}`, which is not known here.")
    return float(same), same


def list_score(schema: dict, gold: Any, found: Any, root: dict) -> float:
    """In place of the judge: the share of the expected items that are found, each with all of its fields passing."""
    if not isinstance(gold, list) or not isinstance(found, list):
        return likeness(gold, found)
    branches = [common.resolved(branch, root) for branch in [schema, *schema.get("anyOf", [])]]
    items = next((branch["items"] for branch in branches if isinstance(branch.get("items"), dict)), {})
    left = list(found)
    open_items = []
    for item in gold:
        if item in left:
            left.remove(item)
        else:
            open_items.append(item)
    missed = 0
    for item in open_items:
        index = next((index for index, other in enumerate(left) if agrees(items, item, other, root)), None)
        if index is None:
            missed += 1
        else:
            del left[index]
    return (len(gold) - missed) / len(gold)


def agrees(schema: dict, gold: Any, found: Any, root: dict) -> bool:
    """Whether an item of a list, or a field of it, passes with all that is in it."""
    schema = common.resolved(schema, root)
    if schema.get("evaluation_config") == "skip":
        return True
    named = metrics(schema)
    if named:
        return all(compare(metric, params, schema, gold, found, root)[1] for metric, params in named)
    if absent(gold) or absent(found):
        return absent(gold) and absent(found)
    if isinstance(gold, dict) and isinstance(found, dict):
        properties = schema.get("properties") or {key: {} for key in {**gold, **found}}
        return all(agrees(child, gold.get(key, MISSING), found.get(key, MISSING), root) for key, child in properties.items())
    kinds = [kind for kind in ("boolean", "number", "string", "array") if common.KINDS[kind](gold)]
    metric = DEFAULTS[kinds[0]] if kinds else "string_semantic"
    return compare(metric, PRESETS.get(metric, {}), schema, gold, found, root)[1]


def outcomes(schema: dict, gold: Any, found: Any, root: dict) -> list[tuple[float, bool, int]]:
    """Score, verdict and number of items of each field that the benchmark evaluates; nothing below a list has its own."""
    schema = common.resolved(schema, root)
    results = []
    for metric, params in metrics(schema):
        score, passed = compare(metric, params, schema, gold, found, root)
        items = len(gold) if metric == "array_llm" and isinstance(gold, list) else 1
        results.append((score, passed, max(1, items)))
    if any(metric in JUDGED or metric == "array_llm" for metric, _ in metrics(schema)):
        return results
    for key, child in schema.get("properties", {}).items():
        inner = [value.get(key, MISSING) if isinstance(value, dict) else MISSING for value in (gold, found)]
        results += outcomes(child, *inner, root)
    return results


def measure(case: common.Case, found: Any) -> tuple[float, float, float]:
    """Score by items, score by fields and share of passed fields of one document."""
    schema, gold = case.gold
    if not isinstance(found, dict):
        return 0.0, 0.0, 0.0
    results = outcomes(schema, gold, found, schema)
    if not results:
        raise common.Refused(f"The schema of {case.name} has no field that is evaluated.")
    weight = sum(items for _, _, items in results)
    by_items = sum(score * items for score, _, items in results) / weight
    return by_items, sum(score for score, _, _ in results) / len(results), sum(passed for _, passed, _ in results) / len(results)


def columns(measures: list[tuple[float, float, float]]) -> dict[str, float]:
    """The metric over documents."""
    return {name: sum(values) / len(values) for name, values in zip(("items", "fields", "passed"), zip(*measures))}


if __name__ == "__main__":
    common.run(sys.modules[__name__])
