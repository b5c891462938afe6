"""Denials shown by responses, in traces without decisions."""

from collections.abc import Iterator
from typing import NamedTuple

from kafka_shim.authorizer.access_plan import RequestAccessNeeds, access_plan
from kafka_shim.authorizer.evidence import ExternalTopicFacts, evidence_from_response
from kafka_shim.authorizer.model import Action
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.message_frames import read_request_frame
from kafka_shim.protocol.responses import NAMING_APIS, topic_ids_with_names
from kafka_shim.trace_format.entries import Request, Response, decode_response_entry

_Key = tuple[int, int]
"""The writer's number of a connection, and the request's on it."""


class Denial(NamedTuple):
    """A denied access; if the response is ambiguous, with the others that may have been denied."""

    action: Action
    alternatives: tuple[Action, ...]


class DerivedDenials:
    """Plans the accesses of requests, and evaluates responses; learns names of topic ids."""

    def __init__(self, release: str = RELEASES[-1]) -> None:
        self._release = release
        self._plans: dict[_Key, RequestAccessNeeds] = {}
        self._names: dict[bytes, str] = {}

    def plan_request(self, connection: int, entry: Request) -> None:
        try:
            header, message = read_request_frame(entry.frame)
        except ProtocolError:
            return
        plan = access_plan(header.api_key, header.api_version, message, self._release, self._names)
        if plan.needs:
            self._plans[connection, entry.sequence] = plan

    def find_denials(self, connection: int, entry: Response) -> Iterator[Denial]:
        """Yield the denials that a response shows."""
        plan = self._plans.pop((connection, entry.sequence), None)
        if plan is None and entry.api_key not in NAMING_APIS:
            return
        message = decode_response_entry(entry)
        if message is None:
            return
        if entry.api_key in NAMING_APIS:
            self._names.update(topic_ids_with_names(message))
        if plan is None:
            return
        key, version = entry.api_key, entry.api_version
        topic_knowledge = ExternalTopicFacts(self._names)
        evidence = evidence_from_response(
            key, version, plan, message, release=self._release, topics=topic_knowledge
        )
        for need in evidence.needs_denied_by_status():
            yield Denial(need.last_named_action, ())
        for need in plan.needs:
            alternatives = evidence.needs_possibly_denied_instead(need)
            if alternatives or evidence.decision_about_need(need) is False:
                yield Denial(
                    need.last_named_action,
                    tuple(other.last_named_action for other in alternatives),
                )
