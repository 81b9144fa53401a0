#!/usr/bin/env python3
"""Kleister-NDA (github.com/applicaai/kleister-nda): a gold set of it, and its metric over our results.

A split is a folder with `in.tsv.xz` and `expected.tsv`, a line for each document. The first column of the former names a
file in `documents/`; the latter has words `key=value`, with underscores for blanks and colons in the value.
"""

import lzma
import sys
from collections import Counter
from pathlib import Path

import common

split = "`dev-0` (the default) or `train`; what is expected of `test-A` is not public"
note = (
    "F1 is over all pairs of key and value of all documents, both sides in capitals; `cased` is F1 as written, `P` and `R` are\n"
    "precision and recall in capitals, `mean F1` is the mean of the documents' F1."
)
SCHEMA = Path(__file__).with_name("kleister-nda.schema.json")
SINGLE = ("effective_date", "jurisdiction", "term")
RULES = {
    "$.effective_date": {"compare": "date"},
    "$.jurisdiction": {"compare": "text", "least": 1.0},
    "$.party[*]": {"compare": "text", "least": 1.0},
    "$.term": {"compare": "text", "least": 1.0},
}


def options(parser) -> None:
    """Kleister-NDA needs no option of its own."""


def lines(path: Path) -> list[str]:
    """The lines of a file, which may be packed; only line feeds end a line."""
    packed = path.with_name(path.name + ".xz")
    try:
        data = path.read_bytes() if path.is_file() else lzma.decompress(packed.read_bytes())
        text = data.decode("utf-8")
    except FileNotFoundError as error:
        raise common.Refused(f"There is neither {path} nor {packed.name}.") from error
    except (lzma.LZMAError, UnicodeDecodeError) as error:
        raise common.Refused(f"{path} can't be read: {error}.") from error
    return text.removesuffix("\n").split("\n")


def load(arguments) -> list[common.Case]:
    """The documents of a split with what is expected of them."""
    folder = arguments.benchmark / (arguments.split or "dev-0")
    if not folder.is_dir():
        raise common.Refused(f"{arguments.benchmark} has no split `{folder.name}`.")
    if not (folder / "expected.tsv").is_file():
        raise common.Refused(f"The split `{folder.name}` has no expected.tsv, so there is nothing to compare with.")
    names = [line.split("\t")[0] for line in lines(folder / "in.tsv")]
    golds = lines(folder / "expected.tsv")
    if len(names) != len(golds):
        raise common.Refused(f"In {folder}, in.tsv has {len(names)} lines and expected.tsv has {len(golds)}.")
    schema = common.read_json(SCHEMA)
    cases = []
    for name, gold in zip(names, golds):
        words = gold.split()
        path = arguments.benchmark / "documents" / name
        cases.append(common.Case(common.safe_name(Path(name).stem), {path.name: path}, record(name, words), schema, words, RULES))
    return cases


def record(name: str, words: list[str]) -> dict:
    """What is expected, as JSON by our schema."""
    values: dict[str, list[str]] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in (*SINGLE, "party"):
            raise common.Refused(f"{name} expects `{word}`, which is not one of the benchmark's keys with a value.")
        values.setdefault(key, []).append(value.replace("_", " "))
    for key in SINGLE:
        if len(values.get(key, [])) > 1:
            print(f"note: {name} expects several values for {key}; the first is taken.", file=sys.stderr)
    return {**{key: values.get(key, [None])[0] for key in SINGLE}, "party": values.get("party", [])}


def pairs(found) -> list[str]:
    """Our result in the benchmark's form."""
    words = []
    for key, values in found.items() if isinstance(found, dict) else []:
        for value in values if isinstance(values, list) else [values]:
            text = "" if value is None else " ".join(str(value).split())
            if text:
                words.append(f"{key}={text.replace(' ', '_').replace(':', '_')}")
    return words


def hits(expected: list[str], found: list[str]) -> tuple[int, int, int]:
    """How many pairs are right, how many are expected, and how many were found; a pair counts as often as it stands there."""
    return sum((Counter(expected) & Counter(found)).values()), len(expected), len(found)


def measure(case: common.Case, found) -> tuple:
    """The counts of one document, in capitals and as written."""
    words = pairs(found)
    return hits([word.upper() for word in case.gold], [word.upper() for word in words]), hits(case.gold, words)


def f1(right: int, expected: int, found: int) -> tuple[float, float, float]:
    """F1, precision and recall; a share of nothing is 1, as GEval has it."""
    precision = right / found if found else 1.0
    recall = right / expected if expected else 1.0
    return (2 * precision * recall / (precision + recall) if precision + recall else 0.0), precision, recall


def columns(measures: list[tuple]) -> dict[str, float]:
    """The metric over documents."""
    capital, cased = (tuple(map(sum, zip(*counts))) for counts in zip(*measures))
    best, precision, recall = f1(*capital)
    mean = sum(f1(*counts)[0] for counts, _ in measures) / len(measures)
    return {"F1": best, "cased": f1(*cased)[0], "P": precision, "R": recall, "mean F1": mean}


if __name__ == "__main__":
    common.run(sys.modules[__name__])
