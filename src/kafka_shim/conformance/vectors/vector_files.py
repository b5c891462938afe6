"""The files of test vectors: given, when, then, why. `vectors/schema.json` has the same shapes."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.shim.errors import ConfigError

FORMAT_VERSION = 1
SUFFIX = ".json"


class Request(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A request of a user, who is logged in and connects from 127.0.0.1.

    `request` has the names of Kafka's message definitions, without null and empty fields; `body`
    is the same as bytes without the header, in base64. `takes` replaces fields by values in the
    responses to labelled vectors. With `later`, the response comes after those of the next vectors.
    `user` may be followed by `/` and a number, for a second connection of the same user.
    """

    user: str
    api: str
    version: int
    request: Mapping[str, Any]
    body: str
    takes: Mapping[str, str] = {}
    later: bool = False


class Expectation(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What the real broker did: it sent a response, or `outcome` says what happened instead.

    `outcome` is `closed` (the connection) or `silent` (Produce with acks=0). `error_codes` are all
    codes in the response except 0, without repetition. `response` has the fields that depend on
    permissions: error codes, authorized operations, names. Beside an error of authorization, all
    other fields are empty. `<some>` stands for any value that is not empty.
    """

    outcome: str = ""
    error_codes: tuple[int, ...] = ()
    response: Mapping[str, Any] | None = None


class Vector(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request and its outcome; `why` are the ids of the permission checks of the request."""

    id: str
    when: Request
    then: Expectation
    why: tuple[str, ...] = ()
    label: str = ""


class AclEntry(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """An ACL, in Kafka's words."""

    resource_type: str
    resource_name: str
    principal: str
    host: str
    operation: str
    permission_type: str
    pattern_type: str = "LITERAL"


class Situation(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What is there before the first vector of a group.

    Each topic has two partitions and `topic_settings`, and stands in requests for the id in
    `topics`, in place of which the broker's own is sent. Each consumer group has committed offset 5
    of partition 0 of the first three topics.
    """

    prefix: str
    topics: Mapping[str, str]
    groups: tuple[str, ...]
    acls: tuple[AclEntry, ...]
    topic_settings: Mapping[str, str] = {}


class VectorGroup(msgspec.Struct, frozen=True, omit_defaults=True):
    """Vectors that run one after the other on a broker, which is then cleaned.

    If all of them are about one rule of the authorizer, `rule` says what a broker does without this
    rule, and `case` with which ACLs.
    """

    given: Situation
    vectors: tuple[Vector, ...]
    rule: str = ""
    case: str = ""


class BrokerSetup(msgspec.Struct, frozen=True, rename="camel"):
    """The broker of a file: clients without authentication are super users, as is `admin`."""

    settings: Mapping[str, str]
    super_users: tuple[str, ...]
    users: tuple[str, ...]


class VectorFile(msgspec.Struct, frozen=True):
    """The vectors of a release about one subject; `why` explains the checks in words."""

    format: int
    release: str
    subject: str
    broker: BrokerSetup
    why: Mapping[str, str]
    groups: tuple[VectorGroup, ...]

    @property
    def vector_count(self) -> int:
        return sum(len(group.vectors) for group in self.groups)


def write_vector_file(path: Path, vectors: VectorFile) -> None:
    """Write a file with one vector in each line, so that it can be read and searched."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(_file_lines(vectors)), encoding="utf-8")


def _file_lines(vectors: VectorFile) -> Iterator[str]:
    yield f'{{"format": {vectors.format}, "release": {_json_text(vectors.release)},'
    yield f' "subject": {_json_text(vectors.subject)},\n "broker": {_json_text(vectors.broker)},\n'
    yield ' "why": {\n'
    yield ",\n".join(
        f"  {_json_text(name)}: {_json_text(text)}" for name, text in vectors.why.items()
    )
    yield '},\n "groups": [\n'
    for at, group in enumerate(vectors.groups):
        named = {"rule": group.rule, "case": group.case} if group.rule else {}
        about = "".join(f"{_json_text(key)}: {_json_text(text)}, " for key, text in named.items())
        yield f' {{{about}"given": {_json_text(group.given)},\n  "vectors": [\n'
        yield ",\n".join(f"   {_json_text(vector)}" for vector in group.vectors)
        yield "]}" + (",\n" if at < len(vectors.groups) - 1 else "]}\n")


def _json_text(content: Any) -> str:
    return msgspec.json.encode(content).decode()


def read_vector_file(path: Path) -> VectorFile:
    """Read a file of vectors. Raise ConfigError if it is not one of this format."""
    try:
        vectors = msgspec.json.decode(path.read_bytes(), type=VectorFile)
    except OSError as error:
        raise ConfigError(f"cannot read `{path}`: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise ConfigError(f"`{path}` is not a file of vectors: {error}") from error
    if vectors.format != FORMAT_VERSION:
        raise ConfigError(f"`{path}` has format {vectors.format}, expected {FORMAT_VERSION}")
    return vectors
