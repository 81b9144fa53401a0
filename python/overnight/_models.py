"""What the server answers, as far as a program usually needs it. Fields that this version of the client does not know break
nothing: they are in `raw`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, TypedDict, TypeVar

Model = TypeVar("Model", bound="_Model")

ENDED = ("completed", "partial", "blocked", "failed", "cancelled")
GOING_ON = ("queued", "running", "waiting")
# For these a held job goes on by itself, whenever that is.
BY_ITSELF = ("window", "outage")


class OvernightError(Exception):
    """The server refused a request, or could not do what was asked."""

    def __init__(self, status: int, title: str, detail: str) -> None:
        super().__init__(f"{status} {title}: {detail}")
        self.status, self.title, self.detail = status, title, detail


def _time(text: str | None) -> datetime | None:
    # Python 3.10 cannot read a 'Z'.
    return None if text is None else datetime.fromisoformat(text.replace("Z", "+00:00"))


@dataclass(frozen=True, kw_only=True)
class _Model:
    raw: Mapping[str, Any] = field(repr=False, compare=False)

    @classmethod
    def _read(cls: type[Model], raw: Mapping[str, Any], **read: Any) -> Model:
        known = {one.name: raw.get(one.name) for one in fields(cls)}
        return cls(**known | read | {"raw": raw})


@dataclass(frozen=True, kw_only=True)
class Job(_Model):
    """A job: where it stands, or what came of it."""

    id: str
    status: str
    hold_reason: str | None
    reason: str | None
    instructions: str
    model: str
    created: datetime
    batch: str | None
    label: str | None
    run_after: datetime | None
    turns: int
    cost_usd: float | None
    coverage: float
    confidence: float | None

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Job:
        # One job alone has its place in the queue apart; in a list it is among the other fields.
        queue = raw.get("queue") or raw
        times = {"created": _time(raw["created"]), "run_after": _time(queue.get("run_after"))}
        return cls._read(raw, batch=queue.get("batch"), label=queue.get("label"), **times)

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED

    @property
    def waits_for_person(self) -> bool:
        """It is held, and does not go on by itself."""
        return self.status == "held" and self.run_after is None and self.hold_reason not in BY_ITSELF


@dataclass(frozen=True, kw_only=True)
class Batch(_Model):
    """A batch; `counts` says how many of its jobs are `queued`, `completed` and so on."""

    id: str
    name: str | None
    instructions: str
    model: str
    created: datetime
    jobs: int
    counts: Mapping[str, int]
    spent_usd: float
    budget_usd: float | None

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Batch:
        totals = raw.get("totals") or raw
        counts = {state: totals.get(state, 0) for state in (*GOING_ON, "held", *ENDED)}
        return cls._read(raw, id=raw.get("batch") or raw["id"], created=_time(raw["created"]), counts=counts)

    @property
    def has_ended(self) -> bool:
        return not any(self.counts[state] for state in (*GOING_ON, "held"))

    @property
    def waits_for_person(self) -> bool:
        """Some of its jobs are held, and nothing of it goes on by itself."""
        held = [one for one in self.raw.get("waits_for") or [] if one.get("status") == "held"]
        by_itself = any(one.get("until") or one.get("hold_reason") in BY_ITSELF for one in held)
        return self.counts["held"] > 0 and not by_itself and not any(self.counts[state] for state in GOING_ON)


class Caller(TypedDict):
    """In whose name a token acts, and what it allows: `reader`, `reviewer` or `operator`."""

    name: str | None
    role: str
    read_only: bool


class Outcome(TypedDict):
    """What came of a request: for how many jobs it is done, and of how many the worker was asked."""

    done: int
    asked: int
    message: str


class ReviewerQueue(TypedDict):
    """What one person is to read of a batch, how much of it they have judged, and how much of that they found right."""

    name: str
    assigned: int
    judged: int
    right: int
    open: list[str]


class PairAgreement(TypedDict):
    """On how many results two people agree that both have judged, each by themselves; `kappa` is Cohen's, None where it tells nothing."""

    one: str
    other: str
    results: int
    equal: int
    kappa: float | None


class Assignments(TypedDict):
    """Who reads which results of a batch."""

    batch: str
    reviewers: list[ReviewerQueue]
    agreement: list[PairAgreement]
    lack_second: list[str]


class Doubt(TypedDict):
    """Why a record is in doubt; `field` is None where the record as a whole is."""

    kind: str
    field: str | None
    why: str


class DoubtfulRecord(TypedDict):
    """A record that a person should look at: the deliverable, the record's place there, and why, the gravest reason first."""

    file: str
    place: str
    name: str
    document: str
    doubts: list[Doubt]


class Doubts(TypedDict):
    """What of a job's result a person should look at, the gravest first."""

    has_result: bool
    records: list[DoubtfulRecord]
    findings: list[str]
    refused: int
    unquoted: list[str]
