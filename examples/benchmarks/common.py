"""What the three converters share: the folder for `overnight gold add`, our results, the table, the command line."""

import argparse
import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Case:
    """A document, or several that belong together, with what is right for it.

    `files` maps the name of a file in the case to the file that is copied, or to a text that is written. `gold` is what
    the benchmark itself holds for right, in whatever form its metric wants it.
    """

    name: str
    files: dict[str, Path | str]
    expected: Any
    schema: dict
    gold: Any
    rules: dict[str, dict]


class Refused(Exception):
    """The input is not what it should be; the text is one sentence for the user."""


def read_json(path: Path) -> Any:
    """Read a JSON file, or refuse it with its path and the reason."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Refused(f"{path} can't be read: {error.strerror}.") from error
    except ValueError as error:
        raise Refused(f"{path} is not JSON: {error}.") from error


def safe_name(text: str) -> str:
    """A name for files: letters, digits, `.`, `_` and `-`; what else there is becomes one `-`."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "document"


def document(path: Path) -> Path:
    """The path of a document that is there, and not only as the pointer that Git LFS leaves in its place."""
    if not path.is_file():
        raise Refused(f"The document {path} is missing; is the download complete?")
    with path.open("rb") as file:
        if file.read(40).startswith(b"version https://git-lfs"):
            raise Refused(f"The document {path} is only a Git LFS pointer; run `git lfs pull` in the benchmark.")
    return path


def unique(cases: list[Case]) -> list[Case]:
    """The same cases, when no two have the same name, in capitals or not."""
    seen: set[str] = set()
    for case in cases:
        if case.name.lower() in seen:
            raise Refused(f"Two documents would both be called {case.name}.")
        seen.add(case.name.lower())
    return cases


def write_gold(out: Path, cases: list[Case]) -> None:
    """Write the folder that `overnight gold add` takes; a folder with something in it is left alone."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Refused(f"{out} exists and is not an empty folder.")
    for case in cases:
        for source in case.files.values():
            if isinstance(source, Path):
                document(source)
    for folder in ("documents", "expected"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    one_schema = all(case.schema == cases[0].schema for case in cases)
    if one_schema:
        write_json(out / "schema.json", cases[0].schema)
    for case in cases:
        several = len(case.files) > 1
        for name, source in case.files.items():
            target = out / "documents" / (f"{case.name}/{name}" if several else case.name + Path(name).suffix.lower())
            target.parent.mkdir(exist_ok=True)
            if isinstance(source, Path):
                shutil.copyfile(source, target)
            else:
                target.write_text(source, encoding="utf-8")
        write_json(out / "expected" / f"{case.name}.json", case.expected)
        if not one_schema:
            (out / "schemas").mkdir(exist_ok=True)
            write_json(out / "schemas" / f"{case.name}.json", case.schema)
    write_rules(out / "fields.yaml", cases)
    tell_misfits(cases)
    print(f"{len(cases)} documents are in {out}.")


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON that people can read."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_rules(path: Path, cases: list[Case]) -> None:
    """Write how each field is compared. One file is for all cases, so where two of them differ, the field has no rule."""
    rules: dict[str, dict] = {}
    differ: set[str] = set()
    for case in cases:
        for where, rule in case.rules.items():
            if rules.setdefault(where, rule) != rule:
                differ.add(where)
    lines = [
        f"{json.dumps(where, ensure_ascii=False)}: {{ {', '.join(f'{key}: {decimal(value)}' for key, value in rule.items())} }}\n"
        for where, rule in sorted(rules.items())
        if where not in differ
    ]
    if lines:
        path.write_text("".join(lines), encoding="utf-8")
    for where in sorted(differ):
        print(f"note: {where} is compared differently in different documents, so it has no rule.", file=sys.stderr)


def decimal(value: Any) -> str:
    """A number without an exponent, which not every reader of YAML takes for a number; anything else as it is."""
    return f"{value:.12f}".rstrip("0") if isinstance(value, float) and value % 1 else str(value)


def tell_misfits(cases: list[Case]) -> None:
    """Say of which cases what is expected doesn't match the schema."""
    for case in cases:
        where = misfit(case.schema, case.expected, case.schema)
        if where:
            print(f"note: what {case.name} expects does not match the benchmark's own schema at {where}.", file=sys.stderr)


def resolved(schema: dict, root: dict) -> dict:
    """The schema with its `$ref` followed; what stands beside the `$ref` goes over what it points to."""
    while "$ref" in schema:
        target: Any = root
        try:
            for part in schema["$ref"].removeprefix("#").strip("/").split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
        except (KeyError, TypeError) as error:
            raise Refused(f"A schema refers to {schema['$ref']}, which it doesn't have.") from error
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


KINDS = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and value == int(value),
}


def types(schema: dict) -> list[str]:
    """The types that a schema names itself, without those of `anyOf`."""
    named = schema.get("type", [])
    return [named] if isinstance(named, str) else list(named)


def misfit(schema: Any, value: Any, root: dict, where: str = "$") -> str | None:
    """The first place where a value doesn't match a schema, by the keywords that the benchmarks use; None where it does."""
    if not isinstance(schema, dict):
        return where if schema is False else None
    schema = resolved(schema, root)
    for choice in ("anyOf", "oneOf"):
        if choice in schema and all(misfit(branch, value, root, where) for branch in schema[choice]):
            return where
    if types(schema) and not any(KINDS.get(kind, lambda _: True)(value) for kind in types(schema)):
        return where
    if "enum" in schema and value not in schema["enum"]:
        return where
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for key in schema.get("required", []):
            if key not in value:
                return f"{where}.{key}"
        for key, item in value.items():
            found = misfit(properties.get(key, schema.get("additionalProperties", True)), item, root, f"{where}.{key}")
            if found:
                return found
    if isinstance(value, list):
        for index, item in enumerate(value):
            found = misfit(schema.get("items", True), item, root, f"{where}[{index}]")
            if found:
                return found
    return None


def fitted(schema: Any, value: Any, root: dict) -> Any:
    """What is expected, with two slips mended: a number where the schema wants a text becomes that text, and a key with
    null where the schema wants a value is left out, if it may be. The benchmarks' metrics see no difference in the latter."""
    schema = resolved(schema, root) if isinstance(schema, dict) else {}
    if isinstance(value, dict):
        properties, required = schema.get("properties", {}), schema.get("required", [])
        return {
            key: fitted(properties.get(key), item, root)
            for key, item in value.items()
            if item is not None or key in required or not misfit(properties.get(key, True), None, root)
        }
    if isinstance(value, list):
        return [fitted(schema.get("items"), item, root) for item in value]
    return str(value) if KINDS["number"](value) and types(schema) == ["string"] else value


def our_results(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """What each candidate found: for each repeat a map of document names to JSON. What can't be read counts as nothing."""
    root = folder / "results"
    if not root.is_dir():
        raise Refused(f"{folder} has no folder `results`; is it what `overnight eval --out` wrote?")
    found: dict[str, list[dict[str, Any]]] = {}
    for candidate in sorted(path for path in root.iterdir() if path.is_dir()):
        repeats = sorted((path for path in candidate.iterdir() if path.is_dir()), key=lambda path: (len(path.name), path.name))
        for repeat in repeats:
            answers = {}
            for path in sorted(repeat.glob("*.json")):
                try:
                    answers[path.stem] = read_json(path)
                except Refused as reason:
                    print(f"note: {reason} It counts as nothing found.", file=sys.stderr)
            found.setdefault(candidate.name, []).append(answers)
    if not found:
        raise Refused(f"{root} holds no results.")
    return found


def our_scores(folder: Path) -> dict[str, float]:
    """Our own score of each candidate, by the letters and digits of its name; none where there is no report."""
    path = folder / "report.json"
    if not path.is_file():
        return {}
    report = read_json(path)
    candidates = report.get("candidates", []) if isinstance(report, dict) else []
    return {
        plain(str(one.get("name"))): one["score"]["value"]
        for one in candidates
        if isinstance(one, dict) and isinstance(one.get("score"), dict)
    }


def plain(name: str) -> str:
    """A candidate's name by its letters and digits, since the folder can't have all signs of the name."""
    return re.sub(r"[\W_]+", "", name).lower()


def table(rows: list[list[str]]) -> str:
    """Rows as a table; the first row is the head, the first column stands left and the others right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:])]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def print_scores(benchmark: Any, cases: list[Case], folder: Path, documents: bool) -> None:
    """Print the benchmark's metric beside our score, a row for each candidate, and with `documents` for each document."""
    names = {case.name for case in cases}
    ours = our_scores(folder)
    rows: list[list[str]] = []
    for candidate, repeats in our_results(folder).items():
        measured = [[benchmark.measure(case, answers.get(case.name)) for case in cases] for answers in repeats]
        total = average([benchmark.columns(one) for one in measured])
        score = ours.get(plain(candidate))
        if not rows:
            rows.append(["candidate", "repeats", "missing", *total, "our score"])
        missing = sum(case.name not in answers for answers in repeats for case in cases)
        cells = [f"{value:.4f}" for value in total.values()]
        rows.append([candidate, str(len(repeats)), str(missing), *cells, "?" if score is None else f"{score:.4f}"])
        for index, case in enumerate(cases if documents else []):
            one = average([benchmark.columns([repeat[index]]) for repeat in measured])
            gone = sum(case.name not in answers for answers in repeats)
            rows.append([f"  {case.name}", "", str(gone), *(f"{value:.4f}" for value in one.values()), ""])
        strange = sorted({name for answers in repeats for name in answers} - names)
        if strange:
            print(f"note: {candidate} has {len(strange)} results that are not of these documents, such as {strange[0]}; "
                  "do --split and --limit say what was converted?", file=sys.stderr)
    print(table(rows))
    print(benchmark.note)


def average(columns: list[dict[str, float]]) -> dict[str, float]:
    """The mean of each column."""
    return {key: sum(one[key] for one in columns) / len(columns) for key in columns[0]}


def run(benchmark: Any) -> None:
    """The command line of a converter.

    `benchmark` is a module with `load(arguments)`, which gives the cases, `measure(case, found)`, which gives what the
    metric has for one document (`found` is None where there is no result), `columns(measures)`, which gives the numbers
    of a list of documents by the names of their columns, `options(parser)`, and the texts `split` and `note`.
    """
    parser = argparse.ArgumentParser(description=benchmark.__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True, metavar="convert|score")
    convert = commands.add_parser("convert", help="make the folder that `overnight gold add` takes")
    score = commands.add_parser("score", help="print the benchmark's own metric over our results, beside our score")
    for command in (convert, score):
        command.add_argument("benchmark", type=Path, help="the benchmark's folder, as it was downloaded")
    convert.add_argument("out", type=Path, help="the new folder")
    score.add_argument("results", type=Path, help="the folder that `overnight eval --out` wrote")
    score.add_argument("--documents", action="store_true", help="a row for each document, too")
    for command in (convert, score):
        command.add_argument("--split", help=benchmark.split)
        command.add_argument("--limit", type=int, metavar="N", help="only the first N documents")
        command.add_argument("--matching", action="store_true", help="only documents whose expected values match their schema")
        benchmark.options(command)
    arguments = parser.parse_args()
    try:
        if not arguments.benchmark.is_dir():
            raise Refused(f"{arguments.benchmark} is not a folder.")
        if arguments.limit is not None and arguments.limit < 1:
            raise Refused("--limit must be at least 1.")
        cases = unique(benchmark.load(arguments))
        if arguments.matching:
            cases = [case for case in cases if not misfit(case.schema, case.expected, case.schema)]
        cases = cases[: arguments.limit]
        if not cases:
            raise Refused(f"{arguments.benchmark} has no documents with results.")
        if arguments.command == "convert":
            write_gold(arguments.out, cases)
        else:
            print_scores(benchmark, cases, arguments.results, arguments.documents)
            sys.stdout.flush()
    except Refused as reason:
        print(f"error: {reason}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # whoever read the table, such as `head`, has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}.", file=sys.stderr)
        sys.exit(2)
