"""Cases in which messages do not determine a decision, found by pairs of a real broker."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.protocol.responses import error_codes_by_name
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.trace_format.segments import Block, read_trace
from kafka_shim.traces.identities.message_fields import NOT_READY_ERRORS
from tests.pipeline.agreement import Decision
from tests.pipeline.real_pairs import COUNTED, Decided, Half, Pair, recorded

LEFT_OUT, NOT_SENT, NO_CONFIGS = "left out of a list", "not sent", "no configurations"
_CONFIGS_SINCE = 5
"""The first version of CreateTopics whose responses have configurations."""
_LOGGED = frozenset({"baseOffset", "producerId", "brokers", "clusterId", "topicId"})
Shape = tuple[str, str]
"""The kind of a decision, and what the response of an exchange shows about its resource."""


class Exchange(NamedTuple):
    """A request with its response.

    `said` has the errors in the response by name; the empty name stands for the whole response.
    """

    api: str
    first_us: int
    last_us: int
    said: dict[str, str]
    is_list: bool
    has_configs: bool
    ids: dict[str, bytes]

    def texts(self, decided: Decision | Decided) -> set[str]:
        """Return what the response shows about a topic; about all names for other resources."""
        if decided.api != self.api:
            return {NOT_SENT}
        if decided.operation == "DESCRIBE_CONFIGS" and not self.has_configs:
            return {NO_CONFIGS}
        if decided.resource_type != "TOPIC" or decided.resource_name == "*":
            return {*self.said.values()}
        said = self.said.get(decided.resource_name)
        return {said} if said else {LEFT_OUT} if self.is_list else set()


def exchange(api: int, version: int, frames: tuple[bytes, bytes], times: tuple[int, int]) -> Any:
    """Decode a request and its response."""
    header, at = read_request_header(frames[0])
    asked = codecs.read_request(header.api_key, header.api_version, frames[0], at)
    response = read_response_with_version(api, version, frames[1])[0]
    errors = error_codes_by_name(response)
    said = {name: _text(codes) for name, codes in errors.items() if isinstance(name, str)}
    is_list = api == ApiKey.METADATA and asked.topics is None
    topics = response.topics if api == ApiKey.METADATA else ()
    ids = {topic.name: topic.topic_id for topic in topics if topic.name and not topic.error_code}
    has_configs = api != ApiKey.CREATE_TOPICS or version >= _CONFIGS_SINCE
    said = said or {"": _text(errors.get(None, set()))}
    return Exchange(ApiKey(api).wire_name, *times, said, is_list, has_configs, ids)


def _text(codes: set[int]) -> str:
    """Return the error codes as text, without temporary errors, which come after the decision."""
    return " ".join(map(str, sorted(codes - NOT_READY_ERRORS))) or "0"


def differing(pair: Pair) -> set[Decided]:
    """Return the decisions that only one of the halves has."""
    first, second = (set(half.decisions) for half in pair.halves)
    return first ^ second


def is_same(pair: Pair, source: str) -> bool:
    """Return whether both halves are equal in a source."""
    first, second = pair.halves
    if source == "request log":
        return _logged(first) == _logged(second)
    responses = (_response(pair, half) for half in pair.halves)
    return first.request == second.request and len({str(response) for response in responses}) == 1


def _response(pair: Pair, half: Half) -> Any:
    message = read_response_with_version(pair.api, pair.version, bytes.fromhex(half.response))[0]
    return _without(msgspec.to_builtins(message), COUNTED)


def _logged(half: Half) -> Any:
    line = json.loads(half.line[half.line.index("{") : half.line.rindex("}") + 1])
    return _without((line["requestHeader"], line["request"], line["response"]), _LOGGED)


def _without(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(item, names) for key, item in value.items() if key not in names}
    return [_without(item, names) for item in value] if isinstance(value, list | tuple) else value


def undetermined(release: str, source: str) -> set[Shape]:
    """Return the shapes of decisions in which the halves of a pair differ."""
    found = set()
    for pair in recorded(release):
        if not is_same(pair, source):
            continue
        half = pair.halves[0]
        frames = bytes.fromhex(half.request), bytes.fromhex(half.response)
        said = exchange(pair.api, pair.version, frames, (0, 0))
        found |= {(each.kind, text) for each in differing(pair) for text in said.texts(each)}
    return found


class Exchanges:
    """All exchanges of a trace by principal."""

    def __init__(self, trace: Path) -> None:
        self._by: dict[str, list[Exchange]] = defaultdict(list)
        asked: dict[tuple[int, int], tuple[str, Request]] = {}
        for block in read_trace(trace):
            assert isinstance(block, Block)
            who = {c.number: c for c in block.body.connections}
            for entry in block.body.entries:
                principal = who[entry.connection].principal
                key = (who[entry.connection].writer_connection, entry.sequence)
                if isinstance(entry, Request):
                    asked[key] = principal, entry
                elif isinstance(entry, Response) and key in asked:
                    _, request = asked.pop(key)
                    frames, times = (request.frame, entry.frame), (request.time_us, entry.time_us)
                    found = exchange(entry.api_key, entry.api_version, frames, times)
                    self._by[principal].append(found)
        self._unanswered = [
            (principal, ApiKey(read_request_header(entry.frame)[0].api_key).wire_name, entry.frame)
            for principal, entry in asked.values()
        ]
        self._shown = [each for found in self._by.values() for each in found if each.ids]

    def unclear(self, decision: Decision, shapes: set[Shape]) -> int:
        """Count the exchanges that may have caused the decision, but do not show it.

        An exchange without a response shows no decision. If no request of this API was sent, the
        broker may have made the check for any other request.
        """
        who, name = (decision.principal, decision.api), decision.resource_name.encode()
        unanswered = sum(each[:2] == who and name in each[2] for each in self._unanswered)
        own = [each for each in self._by[decision.principal] if each.api == decision.api]
        if not own:
            is_unclear = (decision.kind, NOT_SENT) in shapes
            return len(self._by[decision.principal]) if is_unclear else 0
        return unanswered + sum(
            any((decision.kind, text) in shapes for text in self._texts(decision, each))
            for each in own
        )

    def _texts(self, decision: Decision, at: Exchange) -> set[str]:
        texts = at.texts(decision)
        return texts - {LEFT_OUT} if self._was_there(decision, at) else texts

    def _was_there(self, decision: Decision, at: Exchange) -> bool:
        """Return whether responses before and after have the topic with the same id."""
        name = decision.resource_name
        before = {e.ids[name] for e in self._shown if name in e.ids and e.last_us <= at.first_us}
        after = {e.ids[name] for e in self._shown if name in e.ids and e.first_us >= at.last_us}
        return bool(before & after)
