"""A client for the server of `overnight`, a runner for long document jobs with a language model.

    from overnight import Client

    with Client("http://127.0.0.1:8787", token) as client:
        batch = client.submit("extract-requirements", files=["a.pdf", "b.pdf"], each=True)
        client.wait(batch)
        table = client.records_frame(batch)
"""

from ._client import AsyncClient, Client
from ._models import (
    Assignments,
    Batch,
    Caller,
    Doubt,
    DoubtfulRecord,
    Doubts,
    Job,
    Outcome,
    OvernightError,
    PairAgreement,
    ReviewerQueue,
)

__all__ = [
    "Assignments",
    "AsyncClient",
    "Batch",
    "Caller",
    "Client",
    "Doubt",
    "DoubtfulRecord",
    "Doubts",
    "Job",
    "Outcome",
    "OvernightError",
    "PairAgreement",
    "ReviewerQueue",
]
