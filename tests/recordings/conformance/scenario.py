"""A scenario: a small cluster with ACLs, requests of several users, a real broker's responses.

Requests and responses are plain values with the field names of the message classes; fields that a
request omits have their defaults. Topic ids differ in each run, so a scenario has
`topic_id_of(name)` instead. Later requests take generated values (member ids, producer ids, tokens)
from the response to an earlier step, which they name by its label.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.recordings.store import as_called_today, read_file

RECORDINGS = Path(__file__).parent / "recorded"
SUFFIX = ".jsonl.gz"
GHOST_ID = b"\x33" * 16
"""The id of a topic that never existed."""


KEEPING: Final = {"retention.ms": "-1"}
"""Settings of topics that never delete records because of their timestamps."""

ONE_SEGMENT: Final = KEEPING | {"segment.ms": str(2**63 - 1)}
"""The same settings with a single segment. Otherwise old records and a current transaction marker
would be in different segments, and a Fetch response ends with its segment.
"""


class Step(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A request as JSON, and the normalised response of the real broker.

    `takes` fills fields of the request from responses to labelled steps: `{"members.0.member_id":
    "join:member_id"}`. If that step is missing, or its connection was closed, the request keeps its
    own value. For a field with records, the source is only a label: the records get the producer id
    and epoch in that step's response. The step is sent `after_ms` later than the one before. Its
    connection logs in with the delegation token that the step labelled `token` created.
    """

    user: str
    api: str
    version: int
    request: dict[str, Any]
    response: dict[str, Any] = msgspec.field(default_factory=dict, name="answer")
    label: str = ""
    takes: dict[str, str] = {}
    later: bool = False
    after_ms: int = 0
    token: str = ""


class Scenario(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Topics (two partitions each), groups with a committed offset, ACLs, and the steps.

    Every name begins with `prefix`, so that scenarios on one broker do not affect each other.
    `settings` apply to the topics. If all of it is about one rule of the authorizer, `rule` says
    what a broker without this rule does, and `case` with which ACLs.
    """

    prefix: str
    topics: list[str]
    groups: list[str]
    acls: list[dict[str, Any]]
    steps: list[Step]
    settings: dict[str, str] = msgspec.field(default_factory=lambda: dict(KEEPING))
    rule: str = ""
    case: str = ""


def topic_id_of(name: str) -> bytes:
    """Return the id that stands for this topic in scenarios."""
    return hashlib.sha256(name.encode()).digest()[:16]


def recordings() -> list[str]:
    """Return the names of all recordings: a release, or a release and a mode (`4.3.1-open`)."""
    return sorted(path.name.removesuffix(SUFFIX) for path in RECORDINGS.glob(f"*{SUFFIX}"))


def scenario_count(name: str) -> int:
    return len(read_file(RECORDINGS / f"{name}.jsonl.gz").splitlines())


def load(name: str) -> Iterator[Scenario]:
    for line in read_file(RECORDINGS / f"{name}{SUFFIX}").splitlines():
        yield decoded(line)


def decoded(line: bytes | msgspec.Raw) -> Scenario:
    return msgspec.convert(as_called_today(msgspec.json.decode(line)), Scenario)
