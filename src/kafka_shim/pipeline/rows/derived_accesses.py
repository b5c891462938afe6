"""Derive accesses for traces without recorded ones: planned from requests, decided by responses.

The plan is the broker's own (`authorizer.access_plan`). Unknown facts are marked, not guessed.
`unnamed`: topic ids with unknown names, and topics of a fetch session that began earlier.
`possible`: accesses that depend on the broker's state.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from kafka_shim.authorizer.access_plan import (
    AlternativeActions,
    RequestAccessNeeds,
    access_plan,
    alternative_actions_for_name,
)
from kafka_shim.authorizer.evidence import (
    ExternalTopicFacts,
    ResponseEvidence,
    decisions_in_authorized_operations,
    evidence_from_response,
)
from kafka_shim.authorizer.model import Action
from kafka_shim.authorizer.requirement import WITHOUT_ERROR, DenialEffect
from kafka_shim.authorizer.requirements import bound_requirements_by_id
from kafka_shim.pipeline.rows.access_roles import (
    CLUSTER_OPERATIONS,
    EITHER,
    LISTED,
    POSSIBLE,
    PROBE,
    REQUIRED,
    UNNAMED,
    format_alternative,
)
from kafka_shim.pipeline.rows.access_row import AccessRow
from kafka_shim.pipeline.rows.existence import ExistenceIndex, TimeSpan
from kafka_shim.pipeline.rows.fetch_sessions import SESSION_APIS, FetchSessions, SessionRequest
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.message_frames import read_request_frame
from kafka_shim.trace_format.entries import DERIVED, Request, Response, decode_response_entry

Names = Mapping[bytes, str]


class UnansweredRequest(msgspec.Struct, frozen=True):
    """A request without a response so far, with its plan."""

    request: Request
    header: RequestHeader
    plan: RequestAccessNeeds
    gets_no_response: bool
    message: Any
    session_request: SessionRequest | None = None


class DerivationContext(msgspec.Struct, frozen=True):
    """What is known besides a request and its response: the broker's release, names by topic id.

    `existence` says what existed, `broker` identifies the broker as far as the trace shows it, and
    `sessions` are the fetch sessions that began earlier.
    """

    release: str
    topic_names_by_id: Names
    existence: ExistenceIndex
    broker: str
    sessions: FetchSessions


def plan_request(request: Request, context: DerivationContext) -> UnansweredRequest | None:
    """Return the plan of a request; None if it needs nothing or cannot be read."""
    try:
        header, message = read_request_frame(request.frame)
    except ProtocolError:
        return None
    fetch = None
    if header.api_key in SESSION_APIS:
        fetch = context.sessions.expand_request(context.broker, message)
        message = fetch.request
    plan = access_plan(
        header.api_key, header.api_version, message, context.release, context.topic_names_by_id
    )
    if fetch is not None and not fetch.knows_all_topics:
        plan = _add_nameless_requirement(plan, f"{ApiKey(header.api_key).wire_name}.topic")
    if not (plan.needs or plan.possible_needs or plan.requirements_with_unknown_names):
        return None
    is_unanswered = header.api_key == ApiKey.PRODUCE and message.acks == 0
    return UnansweredRequest(request, header, plan, is_unanswered, message, fetch)


def decide_rows(
    planned: UnansweredRequest, response: Response | None, context: DerivationContext
) -> list[AccessRow]:
    """Return the accesses of a request; without a response, no decision is known."""
    content = None if response is None else decode_response_entry(response)
    if response is None or content is None:
        return _rows_of_plan(planned, context.release, lambda _: None)
    header, release = planned.header, context.release
    during = (planned.request.time_us, response.time_us)
    if planned.session_request is not None:
        context.sessions.complete_request(context.broker, planned.session_request, content)
    responded = evidence_from_response(
        *(header.api_key, header.api_version, planned.plan, content),
        release=release,
        topics=ExternalTopicFacts(
            context.topic_names_by_id,
            partial(context.existence.topic_existed_throughout, context.broker, during),
        ),
    )
    found = _rows_of_plan(planned, release, responded.decision_about_need)
    found += _list_rows(planned, responded, context, during)
    found += [
        _derived_row(planned, action, PROBE, allowed=allowed)
        for action, allowed in decisions_in_authorized_operations(header.api_key, content, release)
    ]
    return found


def _list_rows(
    planned: UnansweredRequest,
    evidence: ResponseEvidence,
    context: DerivationContext,
    during: TimeSpan,
) -> Iterator[AccessRow]:
    """Return accesses for a list: allowed for its names, denied for existing names not in it."""
    release = context.release
    named = {action for need in planned.plan.needs for action in need.actions}
    for requirement in planned.plan.requirements_on_response_names:
        bound = bound_requirements_by_id(release)[requirement]
        shown = dict.fromkeys(evidence.names_listed_without_error(requirement), True)
        asked = (context.broker, requirement, planned.message, evidence.response, during)
        hidden = dict.fromkeys(context.existence.names_in_complete_list(*asked), False)
        for name, allowed in (hidden | shown).items():
            need = alternative_actions_for_name(bound, name)
            if need.actions[-1] not in named:
                yield _need_row(planned, need, allowed=allowed, release=release)


def _add_nameless_requirement(plan: RequestAccessNeeds, requirement: str) -> RequestAccessNeeds:
    return msgspec.structs.replace(
        plan,
        requirements_with_unknown_names=(*plan.requirements_with_unknown_names, requirement),
    )


def allowed_rows_without_response(planned: UnansweredRequest, release: str) -> list[AccessRow]:
    """Return the accesses of a request without a response after a later one was answered.

    They were allowed, since a broker closes the connection after a denial.
    """
    return _rows_of_plan(planned, release, lambda _: True)


def _rows_of_plan(
    planned: UnansweredRequest,
    release: str,
    decide: Callable[[AlternativeActions], bool | None],
) -> list[AccessRow]:
    plan = planned.plan
    found = [_need_row(planned, need, decide(need), release) for need in plan.needs]
    bound_rows = bound_requirements_by_id(release)
    for need in plan.possible_needs:
        effect = bound_rows[need.requirement_id].effect_in_version(planned.header.api_version)
        is_denied = effect is DenialEffect.STATUS and decide(need) is False
        allowed, role = (False, "") if is_denied else (None, POSSIBLE)
        found.append(_need_row(planned, need, allowed, release, role))
    return found + [
        _row_without_name(planned, row, release) for row in plan.requirements_with_unknown_names
    ]


def _need_row(
    planned: UnansweredRequest,
    need: AlternativeActions,
    allowed: bool | None,
    release: str,
    role: str = "",
) -> AccessRow:
    """Return the last alternative, which brokers check if the others are denied, with those."""
    *others, chosen = need.actions
    bound = bound_requirements_by_id(release)[need.requirement_id]
    if bound.requirement in CLUSTER_OPERATIONS:
        role = PROBE
    is_without_error = bound.effect_in_version(planned.header.api_version) in WITHOUT_ERROR
    role = role or (LISTED if is_without_error else EITHER if others else REQUIRED)
    return _derived_row(planned, chosen, role, allowed=allowed, alternatives=others)


def _derived_row(
    planned: UnansweredRequest,
    action: Action,
    role: str,
    *,
    allowed: bool | None,
    alternatives: Iterable[Action] = (),
) -> AccessRow:
    return AccessRow(
        planned.request.sequence,
        planned.request.time_us,
        planned.header.api_key,
        planned.header.api_version,
        action.operation,
        action.resource_type,
        action.resource_name,
        role,
        tuple(
            format_alternative(other.operation, other.resource_type, other.resource_name)
            for other in alternatives
        ),
        DERIVED,
        allowed,
        "",
    )


def _row_without_name(planned: UnansweredRequest, requirement: str, release: str) -> AccessRow:
    need = bound_requirements_by_id(release)[requirement].needs[-1]
    action = Action(need.operation, need.resource_type, "")
    return _derived_row(planned, action, UNNAMED, allowed=None)
