"""A scenario: a small cluster with ACLs, requests of several users, and a real broker's answers.

Requests and answers are plain values in the field names of our message classes; what a request
leaves out has its default. Topic ids differ from run to run: in a scenario each stands as
`topic_id_of(name)`. What a broker makes up (member ids, producer ids, tokens) a later request takes
from an earlier answer, by the label of its step.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.recordings.renamed_fields import as_called_today
from tests.recordings.store import read_file

RECORDINGS = Path(__file__).parent / "recorded"
SUFFIX = ".jsonl.gz"
GHOST_ID = b"\x33" * 16
"""The id of a topic that there never was."""


KEEPING: Final = {"retention.ms": "-1"}
"""Settings of topics that keep their records, however old those say they are."""

ONE_SEGMENT: Final = KEEPING | {"segment.ms": str(2**63 - 1)}
"""And in one segment, which is as far as a Fetch goes: old records and a transaction marker of now
would not share one.
"""


class Step(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One request, as JSON has it, and what the real broker answered (normalised).

    `takes` fills fields of the request from answers to labelled steps: `{"members.0.member_id":
    "join:member_id"}`. If that step is not there, or was closed, the request's own value stays.
    For a field with records the other side is a label alone: their producer id and epoch are those
    that the step was given.
    """

    user: str
    api: str
    version: int
    request: dict[str, Any]
    answer: dict[str, Any] = {}
    label: str = ""
    takes: dict[str, str] = {}
    later: bool = False


class Scenario(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Topics (two partitions each), groups with a committed offset, ACLs, and the steps.

    Every name begins with `prefix`, so that scenarios on one broker do not see each other.
    `settings` are those of the topics.
    """

    prefix: str
    topics: list[str]
    groups: list[str]
    acls: list[dict[str, Any]]
    steps: list[Step]
    settings: dict[str, str] = msgspec.field(default_factory=lambda: dict(KEEPING))


def topic_id_of(name: str) -> bytes:
    """Stands for the id of this topic in scenarios."""
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
