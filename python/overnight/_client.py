"""The client, once without and once with `async`.

Each operation is written once, as a generator: it yields the requests that are to be sent and the seconds that are to be waited,
and is given the answers. `Client` and `AsyncClient` differ only in how they do that."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeAlias, TypeVar, cast, overload
from urllib.parse import quote

import httpx

from ._models import Assignments, Batch, Caller, Doubts, Job, Outcome, OvernightError

if TYPE_CHECKING:
    import pandas

P = ParamSpec("P")
R = TypeVar("R")
JobId: TypeAlias = str | uuid.UUID | Job
BatchId: TypeAlias = str | uuid.UUID | Batch
AnyId: TypeAlias = JobId | BatchId
File: TypeAlias = str | os.PathLike[str] | tuple[str, bytes]

# Seconds before each further attempt.
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True)
class _Request:
    method: str
    path: str
    more: dict[str, Any] = field(default_factory=dict)
    # A second time does no harm: nothing is changed, or the request carries a key.
    is_safe: bool = False


Steps: TypeAlias = Generator[_Request | float, Any, R]


class _Operation(Generic[P, R]):
    """A method that is a plain one for a `Client`, and gives something to await for an `AsyncClient`."""

    def __init__(self, steps: Callable[Concatenate[Any, P], Steps[R]]) -> None:
        self.steps, self.__wrapped__, self.__doc__ = steps, steps, steps.__doc__

    @overload
    def __get__(self, client: Client, owner: Any = None) -> Callable[P, R]: ...
    @overload
    def __get__(self, client: AsyncClient, owner: Any = None) -> Callable[P, Awaitable[R]]: ...
    def __get__(self, client: Any, owner: Any = None) -> Any:
        return self if client is None else lambda *args, **named: client._run(self.steps(client, *args, **named))


class _Listing(Generic[P, R]):
    """A method that gives the entries of a list one by one, and asks for its next piece when it is needed."""

    def __init__(self, wanted: Callable[Concatenate[Any, P], tuple[str, dict[str, Any], Callable[[Any], R]]]) -> None:
        self.wanted, self.__wrapped__, self.__doc__ = wanted, wanted, wanted.__doc__

    @overload
    def __get__(self, client: Client, owner: Any = None) -> Callable[P, Iterator[R]]: ...
    @overload
    def __get__(self, client: AsyncClient, owner: Any = None) -> Callable[P, AsyncIterator[R]]: ...
    def __get__(self, client: Any, owner: Any = None) -> Any:
        return self if client is None else lambda *args, **named: client._entries(*self.wanted(client, *args, **named))


def _ask(request: _Request) -> Steps[httpx.Response]:
    """Sends a request, again where that is safe, and raises what the server says against it."""
    for pause in (*PAUSES, None):
        answer: httpx.Response | httpx.TransportError = yield request
        if isinstance(answer, httpx.Response):
            is_passing = request.is_safe and answer.status_code == 503
        else:
            is_passing = request.is_safe or isinstance(answer, NOT_SENT)
        if pause is None or not is_passing:
            break
        yield pause
    if not isinstance(answer, httpx.Response):
        raise answer
    if answer.is_success:
        return answer
    try:
        problem = dict(answer.json())
    except (ValueError, TypeError):
        problem = {}
    title, detail = problem.get("title") or answer.reason_phrase, problem.get("detail") or "The server says no more."
    raise OvernightError(answer.status_code, title, detail)


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _get(path: str, **params: Any) -> Steps[httpx.Response]:
    return _ask(_Request("GET", path, {"params": _given(params)}, is_safe=True))


def _send(path: str, more: dict[str, Any], key: str | None = None) -> Steps[Any]:
    # A server that refuses a request before it has read all of it closes the connection: no other request goes over it.
    headers = _given({"Connection": "close", "Idempotency-Key": key})
    return (yield from _ask(_Request("POST", path, more | {"headers": headers}, is_safe=key is not None))).json()


def _post(path: str, body: dict[str, Any] | None = None) -> Steps[Any]:
    return _send(path, {} if body is None else {"json": body})


def _records(of: AnyId) -> Steps[list[dict[str, Any]]]:
    return list((yield from _of_either(of, lambda path: _get(f"{path}/records"))).json()["records"])


def _ask_jobs(of: AnyId, request: str) -> Steps[Outcome]:
    return cast(Outcome, (yield from _of_either(of, lambda path: _post(f"{path}/{request}"))))


def _job(job: AnyId) -> str:
    return f"/jobs/{quote(str(getattr(job, 'id', job)), safe='')}"


def _batch(batch: AnyId) -> str:
    return f"/batches/{quote(str(getattr(batch, 'id', batch)), safe='')}"


def _of_either(of: AnyId, ask: Callable[[str], Steps[R]]) -> Steps[R]:
    """Asks of a batch or of a job. Where only an id is known, it is looked for among the batches first."""
    if not isinstance(of, Job):
        try:
            return (yield from ask(_batch(of)))
        except OvernightError as error:
            if error.status != 404 or isinstance(of, Batch):
                raise
    return (yield from ask(_job(of)))


def _read(file: File) -> tuple[str, bytes]:
    return file if isinstance(file, tuple) else (Path(file).name, Path(file).read_bytes())


class _Operations:
    """What both clients can do."""

    @_Operation
    def me(self) -> Steps[Caller]:
        """In whose name the token acts, and what it allows."""
        return cast(Caller, (yield from _get("/me")).json())

    @_Operation
    def instructions(self) -> Steps[list[str]]:
        """The names of the instructions that a batch can be submitted for."""
        return list((yield from _get("/instructions")).json()["instructions"])

    @_Operation
    def submit(
        self,
        instructions: str,
        *,
        files: Iterable[File] = (),
        paths: Iterable[str] = (),
        name: str | None = None,
        each: bool = False,
        dedupe: bool = False,
        budget_usd: float | None = None,
        idempotency_key: str | None = None,
    ) -> Steps[Batch]:
        """Puts documents into the queue as a batch of jobs.

        `files` are files of this machine, or pairs of a name and its bytes, that are uploaded; `paths` are files and folders below
        the server's documents folder. With `each`, every document becomes a job of its own. The request carries a key, yours or one
        that is made for it: it is sent again after a lost connection, and still makes one batch."""
        if isinstance(files, str) or isinstance(paths, str):
            raise TypeError("files and paths are lists: put a single name into brackets")
        uploads, paths = [("files", _read(file)) for file in files], list(paths)
        if bool(uploads) == bool(paths):
            raise ValueError("give either files, which are uploaded, or paths, which lie on the server")
        wanted = {"instructions": instructions, "name": name, "each": each, "dedupe": dedupe, "budget_usd": budget_usd}
        if uploads:
            # In a form, flags and numbers are texts.
            form = {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in _given(wanted).items()}
            body: dict[str, Any] = {"data": form, "files": uploads}
        else:
            body = {"json": _given(wanted) | {"paths": paths}}
        return Batch.of((yield from _send("/batches", body, idempotency_key or str(uuid.uuid4()))))

    @_Listing
    def batches(self) -> tuple[str, dict[str, Any], Callable[[Any], Batch]]:
        """All batches, the newest first."""
        return "/batches", {}, Batch.of

    @_Listing
    def jobs(
        self, *, batch: BatchId | None = None, status: str | None = None, needs_review: bool = False, text: str | None = None
    ) -> tuple[str, dict[str, Any], Callable[[Any], Job]]:
        """Jobs, the newest first: of a batch, in a state such as `completed`, held for a review, or with `text` in their label,
        instructions or model."""
        of_batch = None if batch is None else str(getattr(batch, "id", batch))
        return "/jobs", {"batch": of_batch, "status": status, "needs_review": needs_review, "text": text}, Job.of

    @_Operation
    def batch(self, batch: BatchId) -> Steps[Batch]:
        """One batch: how its jobs stand."""
        return Batch.of((yield from _get(_batch(batch))).json())

    @_Operation
    def job(self, job: JobId) -> Steps[Job]:
        """One job: where it stands, or what came of it."""
        return Job.of((yield from _get(_job(job))).json())

    @_Operation
    def wait(self, of: AnyId, *, timeout: float | None = None, poll: float = 5.0) -> Steps[Batch | Job]:
        """Waits until a job, or every job of a batch, has ended or waits for a person, and gives it as it is then.

        It asks every `poll` seconds, and raises a `TimeoutError` after `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout

        def ask(path: str) -> Steps[Batch | Job]:
            found = (yield from _get(path)).json()
            return Batch.of(found) if path.startswith("/batches/") else Job.of(found)

        while True:
            of = found = yield from _of_either(of, ask)
            if found.has_ended or found.waits_for_person:
                return found
            left = poll if end is None else min(poll, end - time.monotonic())
            if left <= 0:
                raise TimeoutError(f"{found.id} has not ended within {timeout} seconds")
            yield left

    @_Operation
    def records(self, of: AnyId) -> Steps[list[dict[str, Any]]]:
        """The records of a job, or of all jobs of a batch, with corrections."""
        return (yield from _records(of))

    @_Operation
    def records_frame(self, of: AnyId) -> Steps[pandas.DataFrame]:
        """The same as a table of pandas."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("records_frame needs pandas: install it with pip install 'overnight[pandas]'") from error
        frame: pandas.DataFrame = pandas.DataFrame.from_records((yield from _records(of)))
        return frame

    @_Operation
    def export(self, batch: BatchId, format: str = "csv") -> Steps[bytes]:
        """The records of a batch as a table: `csv`, `jsonl`, `xlsx`, `parquet` or `sqlite`."""
        return (yield from _get(f"{_batch(batch)}/export", format=format)).content

    @_Operation
    def doubts(self, job: JobId) -> Steps[Doubts]:
        """What of a job's result a person should look at."""
        return cast(Doubts, (yield from _get(f"{_job(job)}/doubts")).json())

    @_Operation
    def files(self, job: JobId) -> Steps[list[str]]:
        """The paths of the files of a job's workspace."""
        return [file["path"] for file in (yield from _get(f"{_job(job)}/files")).json()["files"]]

    @_Operation
    def file(self, job: JobId, path: str) -> Steps[bytes]:
        """One file of a job's workspace."""
        return (yield from _get(f"{_job(job)}/files/{quote(path)}")).content

    @_Operation
    def document_text(self, job: JobId, document: str) -> Steps[str]:
        """The text of a document, as it was read."""
        return (yield from _get(f"{_job(job)}/documents/{quote(document)}")).content.decode()

    @_Operation
    def approve(
        self, job: JobId, *, record: str | None = None, file: str | None = None, comment: str | None = None
    ) -> Steps[Job]:
        """Accepts a result, or one record of it, such as `$.requirements[3]`."""
        return Job.of((yield from _post(f"{_job(job)}/approve", {"record": record, "file": file, "comment": comment})))

    @_Operation
    def correct(
        self, job: JobId, place: str, value: Any, *, file: str | None = None, comment: str | None = None
    ) -> Steps[Job]:
        """Gives a field, such as `$.requirements[3].text`, or a record another value; None in place of a record deletes it."""
        body = {"place": place, "value": value, "file": file, "comment": comment}
        return Job.of((yield from _post(f"{_job(job)}/correct", body)))

    @_Operation
    def settle(self, job: JobId, finding: str, reason: str) -> Steps[Job]:
        """Says why a finding, such as `r3`, is no fault."""
        return Job.of((yield from _post(f"{_job(job)}/settle", {"finding": finding, "reason": reason})))

    @_Operation
    def feedback(self, job: JobId, text: str) -> Steps[Job]:
        """Sends a result back: the job goes on with this text among its instructions."""
        return Job.of((yield from _post(f"{_job(job)}/feedback", {"text": text})))

    @_Operation
    def assignments(self, batch: BatchId) -> Steps[Assignments]:
        """Who reads which results of a batch, who is how far, and how far two who read the same ones agree."""
        return cast(Assignments, (yield from _get(f"{_batch(batch)}/assignments")).json())

    @_Operation
    def assign(
        self, batch: BatchId, to: Iterable[str], *, twice: int = 0, seed: int | None = None, taken_from: str | None = None
    ) -> Steps[Assignments]:
        """Deals the results of a batch that nobody has yet out to people, the names of their tokens; `twice` of them, drawn by chance
        with `seed`, to two each. What `taken_from` has and hasn't judged yet is dealt out again."""
        if isinstance(to, str):
            raise TypeError("to is a list of names: put a single one into brackets")
        body = _given({"to": list(to), "twice": twice, "seed": seed, "from": taken_from})
        return cast(Assignments, (yield from _post(f"{_batch(batch)}/assign", body)))

    @_Operation
    def pause(self, of: AnyId) -> Steps[Outcome]:
        """Holds a job, or the jobs of a batch, at the next turn."""
        return (yield from _ask_jobs(of, "pause"))

    @_Operation
    def resume(self, of: AnyId) -> Steps[Outcome]:
        """Queues a held job, or the held jobs of a batch, again."""
        return (yield from _ask_jobs(of, "resume"))

    @_Operation
    def cancel(self, of: AnyId) -> Steps[Outcome]:
        """Ends a job, or the jobs of a batch, for good; what was made stays."""
        return (yield from _ask_jobs(of, "cancel"))

    @_Operation
    def retry(self, of: AnyId) -> Steps[Outcome]:
        """Queues a failed job, or the failed jobs of a batch, again."""
        return (yield from _ask_jobs(of, "retry"))


def _options(url: str, token: str, more: dict[str, Any]) -> dict[str, Any]:
    headers = {**(more.pop("headers", None) or {}), "Authorization": f"Bearer {token}"}
    return {"base_url": f"{url.rstrip('/')}/api/v1", "headers": headers, "timeout": 60.0, **more}


class Client(_Operations):
    """Asks the server at `url`, such as `http://127.0.0.1:8787`, with a token of `overnight token add`.

    Everything else, such as `timeout` and `verify`, is for `httpx.Client`."""

    def __init__(self, url: str, token: str, **more: Any) -> None:
        self._http = httpx.Client(**_options(url, token, more))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def _run(self, steps: Steps[Any]) -> Any:
        answer: Any = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                return end.value
            try:
                if isinstance(step, _Request):
                    answer = self._http.request(step.method, step.path, **step.more)
                else:
                    time.sleep(step)
            except httpx.TransportError as error:
                answer = error

    def _entries(self, path: str, wanted: dict[str, Any], model: Callable[[Any], R]) -> Iterator[R]:
        part: dict[str, Any] = {"next": None}
        while "items" not in part or part["next"]:
            part = self._run(_get(path, **wanted, cursor=part["next"])).json()
            yield from map(model, part["items"])


class AsyncClient(_Operations):
    """The same with `async`: `await client.wait(batch)`, `async for job in client.jobs()`."""

    def __init__(self, url: str, token: str, **more: Any) -> None:
        self._http = httpx.AsyncClient(**_options(url, token, more))

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def _run(self, steps: Steps[Any]) -> Any:
        answer: Any = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                return end.value
            try:
                if isinstance(step, _Request):
                    answer = await self._http.request(step.method, step.path, **step.more)
                else:
                    await asyncio.sleep(step)
            except httpx.TransportError as error:
                answer = error

    async def _entries(self, path: str, wanted: dict[str, Any], model: Callable[[Any], R]) -> AsyncIterator[R]:
        part: dict[str, Any] = {"next": None}
        while "items" not in part or part["next"]:
            part = (await self._run(_get(path, **wanted, cursor=part["next"]))).json()
            for entry in part["items"]:
                yield model(entry)
