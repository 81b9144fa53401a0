"""The client against the real server and the real worker.

The program is the one that OVERNIGHT_BINARY names, or `overnight` on the path."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from overnight import AsyncClient, Batch, Client, Job, OvernightError

DOCUMENTS = [(f"pump-{number:02}.md", f"# Pump {number}\n\n1.1 The pump shall stop after {number} s.\n") for number in range(20)]


class Installation:
    """A server with a database, workspaces and tokens of its own; a worker runs when it is asked for."""

    def __init__(self, folder: Path):
        program = shutil.which(os.environ.get("OVERNIGHT_BINARY") or "overnight")
        if not program:
            pytest.exit("OVERNIGHT_BINARY names no program, and `overnight` is not on the path", returncode=2)
        self.program = str(Path(program).resolve())
        self.folder = folder
        (folder / "documents").mkdir()
        for name, text in DOCUMENTS:
            (folder / "documents" / name).write_text(text)
        database = f"sqlite://{folder}/overnight.db"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "OVERNIGHT_DATABASE_URL": database}
        self.environment["OVERNIGHT_WORKSPACES"] = str(folder / "workspaces")
        self.tokens = {}
        for name, role in (("Anna", "reviewer"), ("nightly", "operator"), ("Rita", "reader")):
            self.tokens[name] = json.loads(self.run("token", "add", name, "--role", role, "--json"))["token"]
        self.server = self.start("serve", "--listen", "127.0.0.1:0", "--documents-root", str(folder / "documents"))
        # The link is printed once the server listens.
        self.url = self.server.stdout.readline().split("/?")[0]

    def start(self, *arguments: str) -> subprocess.Popen:
        command = [self.program, *arguments]
        log = open(self.folder / f"{arguments[0]}.log", "a")
        return subprocess.Popen(command, env=self.environment, cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True)

    def run(self, *arguments: str) -> str:
        done = subprocess.run([self.program, *arguments], env=self.environment, cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def worker(self) -> subprocess.Popen:
        return self.start("work", "--until-empty")

    def client(self, name: str, **more) -> Client:
        return Client(self.url, self.tokens[name], **more)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    installation = Installation(tmp_path_factory.mktemp("overnight"))
    yield installation
    installation.server.terminate()
    installation.server.wait(timeout=30)


@pytest.fixture
def nightly(place):
    with place.client("nightly") as client:
        yield client


@pytest.fixture(scope="module")
def done(place) -> Batch:
    """A batch of 20 documents, worked to its end."""
    with place.client("nightly") as client:
        batch = client.submit("extract-requirements", files=uploads(), name="pumps", each=True)
        assert (batch.jobs, batch.counts["queued"], batch.has_ended) == (20, 20, False)
        worker = place.worker()
        batch = client.wait(batch, timeout=300, poll=0.2)
        assert worker.wait(timeout=60) == 0
    return batch


def uploads() -> list[tuple[str, bytes]]:
    return [(name, text.encode()) for name, text in DOCUMENTS]


def job_of(client: Client, batch: Batch, label: str) -> Job:
    [job] = [job for job in client.jobs(batch=batch) if job.label == label]
    return job


def test_20_documents_go_in_and_their_records_come_out_as_a_table(nightly, done):
    assert done.has_ended and done.counts["completed"] == 20 and done.name == "pumps"
    records = nightly.records(done)
    assert {record["document"] for record in records} == {name for name, _ in DOCUMENTS}
    job = job_of(nightly, done, "pump-07.md")
    assert job.has_ended and job.batch == done.id and job.created.tzinfo is not None
    assert nightly.records(job) == nightly.records(job.id) == [one for one in records if one["document"] == "pump-07.md"]
    assert nightly.export(done, "csv").decode().count("pump-07.md") >= 1
    assert nightly.export(done, "xlsx").startswith(b"PK")


def test_records_are_a_frame_of_pandas(nightly, done):
    pandas = pytest.importorskip("pandas")
    frame = nightly.records_frame(done.id)
    assert isinstance(frame, pandas.DataFrame) and frame["document"].nunique() == 20


def test_without_pandas_a_sentence_says_what_is_missing(nightly, done, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install 'overnight"):
        nightly.records_frame(done)


def test_what_two_people_do_is_recorded_under_their_names(place, nightly, done):
    corrected, sent_back = job_of(nightly, done, "pump-03.md"), job_of(nightly, done, "pump-04.md")
    with place.client("Anna") as anna:
        assert anna.me() == {"name": "Anna", "role": "reviewer", "read_only": False}
        anna.correct(corrected, "$.requirements[0].section", "Pumps", comment="as its heading says")
        anna.approve(corrected, record="$.requirements[0]")
        with pytest.raises(OvernightError, match="operator") as refused:
            anna.cancel(done)
        assert refused.value.status == 403
    assert nightly.records(corrected)[0]["section"] == "Pumps"
    assert nightly.feedback(sent_back, "Also what is said of the valve.").status == "queued"
    with pytest.raises(TimeoutError):
        nightly.wait(sent_back, timeout=0)
    worker = place.worker()
    assert nightly.wait(sent_back.id, timeout=120, poll=0.2).status == "completed"
    assert worker.wait(timeout=60) == 0
    for job, name in ((corrected, "Anna"), (sent_back, "nightly")):
        people = json.loads(place.run("show", job.id, "--json"))["people"]
        assert people and {act["who"] for act in people} == {name}
        assert f"{name} " in place.run("audit", job.id)
        place.run("audit", "verify", job.id)


def test_a_job_shows_its_files_texts_and_doubts(nightly, done):
    job = job_of(nightly, done, "pump-05.md")
    assert nightly.document_text(job, "pump-05.md").startswith("# Pump 5")
    assert "output/requirements.json" in nightly.files(job)
    assert json.loads(nightly.file(job, "output/requirements.json"))["requirements"]
    assert nightly.doubts(job)["has_result"] is True
    with pytest.raises(OvernightError) as missing:
        nightly.file(job, "output/nothing.json")
    assert (missing.value.status, missing.value.title) == (404, "Not Found")
    with pytest.raises(OvernightError) as unknown:
        nightly.settle(job, "r1", "there is no such finding")
    assert unknown.value.status == 400 and "finding" in unknown.value.detail


def test_results_are_dealt_out_to_people(nightly, done):
    dealt = nightly.assign(done, ["Anna", "Ben"], twice=4, seed=7)
    names = [queue["name"] for queue in dealt["reviewers"]]
    assert (names, sum(queue["assigned"] for queue in dealt["reviewers"])) == (["Anna", "Ben"], 20 + 4)
    assert all(queue["judged"] + len(queue["open"]) == queue["assigned"] for queue in dealt["reviewers"])
    assert dealt == nightly.assignments(done.id) == nightly.assign(done, ["Anna", "Ben"])
    assert dealt["agreement"] == []
    with pytest.raises(TypeError):
        nightly.assign(done, "Anna")
    with pytest.raises(OvernightError, match="two people"):
        nightly.assign(done, ["Anna"], twice=1)


def test_a_reader_changes_nothing(place, nightly, done):
    job = job_of(nightly, done, "pump-06.md")

    def all_of_it():
        return [batch.raw for batch in nightly.batches()], [one.raw for one in nightly.jobs()], nightly.job(job).raw

    before = all_of_it()
    with place.client("Rita") as rita:
        tried = [
            lambda: rita.submit("extract-requirements", files=uploads()),
            lambda: rita.submit("extract-requirements", paths=["pump-01.md"]),
            lambda: rita.approve(job),
            lambda: rita.correct(job, "$.requirements[0].section", "x"),
            lambda: rita.settle(job, "r1", "x"),
            lambda: rita.feedback(job, "x"),
            *(lambda act=act, of=of: act(of) for act in (rita.pause, rita.resume, rita.cancel, rita.retry) for of in (job, done)),
        ]
        for act in tried:
            with pytest.raises(OvernightError) as refused:
                act()
            assert refused.value.status == 403
        assert len(rita.records(done)) >= 20
    assert all_of_it() == before


def test_a_batch_is_paused_resumed_and_cancelled(nightly):
    batch = nightly.submit("extract-requirements", paths=["pump-01.md", "pump-02.md"], each=True, budget_usd=2.5)
    assert (batch.jobs, batch.budget_usd) == (2, 2.5)
    assert nightly.pause(batch)["done"] == 2
    held = nightly.wait(batch, timeout=10)
    assert held.waits_for_person and not held.has_ended
    one, two = nightly.jobs(batch=batch, status="held")
    assert one.waits_for_person and nightly.resume(one)["done"] == 1
    assert nightly.cancel(batch.id)["done"] == 2
    assert {nightly.job(job).status for job in (one, two)} == {"cancelled"}
    with pytest.raises(OvernightError) as refused:
        nightly.retry(two)
    assert refused.value.status == 409


def test_lists_come_in_pieces(nightly, done):
    asked = []
    nightly._http.params = {"limit": 7}
    nightly._http.event_hooks["request"].append(lambda request: asked.append(request.url.params.get("cursor")))
    assert len({job.id for job in nightly.jobs(batch=done)}) == 20
    assert len(asked) == 3 and asked[0] is None and asked[1] and asked[2]


class Flaky(httpx.HTTPTransport):
    """Loses the first answer, after the server has given it; the second one is 503."""

    sent = 0

    def handle_request(self, request):
        self.sent += 1
        answer = super().handle_request(request)
        if self.sent == 1:
            raise httpx.ReadError("lost", request=request)
        return httpx.Response(503) if self.sent == 2 else answer


def test_a_submission_whose_answer_was_lost_makes_one_batch(place, nightly):
    before = len(list(nightly.batches()))
    transport = Flaky()
    with place.client("nightly", transport=transport) as client:
        batch = client.submit("extract-requirements", files=[place.folder / "documents" / "pump-01.md"])
        assert transport.sent == 3 and len(list(nightly.batches())) == before + 1
        # What carries no key is not sent again.
        transport.sent = 0
        with pytest.raises(httpx.ReadError):
            client.pause(batch)
    assert nightly.submit("extract-requirements", paths=["."], idempotency_key="of-tonight").id == (
        nightly.submit("extract-requirements", paths=["."], idempotency_key="of-tonight").id
    )
    with pytest.raises(OvernightError) as refused:
        nightly.submit("extract-requirements", paths=["pump-01.md"], idempotency_key="of-tonight")
    assert refused.value.status == 422


def test_what_can_not_be_submitted_is_said_before_it_is_sent(nightly):
    for wrong in ({}, {"files": uploads(), "paths": ["."]}):
        with pytest.raises(ValueError):
            nightly.submit("extract-requirements", **wrong)
    with pytest.raises(TypeError):
        nightly.submit("extract-requirements", paths="pump-01.md")
    with pytest.raises(OvernightError, match="instructions"):
        nightly.submit("no-such-task", paths=["pump-01.md"])
    assert "extract-requirements" in nightly.instructions()


def test_unknown_and_missing_fields_break_nothing(nightly, done):
    raw = {**nightly.job(job_of(nightly, done, "pump-08.md")).raw, "of_a_later_version": {"x": 1}}
    del raw["confidence"]
    job = Job.of(raw)
    assert job.confidence is None and job.raw["of_a_later_version"] == {"x": 1}


def test_the_same_with_async(place):
    async def trip():
        async with AsyncClient(place.url, place.tokens["nightly"]) as client:
            one, two = await asyncio.gather(
                client.submit("extract-requirements", files=uploads()[:2], name="one", each=True),
                client.submit("extract-requirements", paths=["pump-09.md"], name="two"),
            )
            worker = place.worker()
            ended = await asyncio.gather(*(client.wait(batch, timeout=120, poll=0.2) for batch in (one, two)))
            await asyncio.to_thread(worker.wait, 60)
            assert [batch.counts["completed"] for batch in ended] == [2, 1]
            jobs = [job async for job in client.jobs(batch=one)]
            assert {job.label for job in jobs} == {"pump-00.md", "pump-01.md"}
            assert (await client.approve(jobs[0], comment="seen")).status == "completed"
            assert {record["document"] for record in await client.records(two)} == {"pump-09.md"}
            with pytest.raises(OvernightError) as missing:
                await client.job(two.id)
            assert missing.value.status == 404

    asyncio.run(trip())
