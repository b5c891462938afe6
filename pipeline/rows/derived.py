"""Accesses of traces that have none of their own: planned from requests, decided by their answers.

The plan is the broker's own (`authorizer.access_plan`). What it cannot know is said and not
guessed: a topic id whose name was not seen (`unnamed`), and what is asked in some states of the
broker only (`possible`). A fetch session's topics are in the request that names them, not in those
that go on with it, so counts are lower bounds.
"""

from collections.abc import Callable, Mapping

import msgspec

from kafka_shim.authorizer.access_plan import AnyOf, Plan, access_plan, any_of
from kafka_shim.authorizer.answered import answered_by, rows_of
from kafka_shim.authorizer.requirement import Effect
from kafka_shim.pipeline.rows.access_row import AccessRow
from kafka_shim.pipeline.rows.roles import EITHER, LISTED, POSSIBLE, REQUIRED, UNNAMED, access_text
from kafka_shim.protocol import codecs
from kafka_shim.protocol.answers import read_answer
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.protocol.trace.entries import DERIVED, Request, Response

Names = Mapping[bytes, str]


class Planned(msgspec.Struct, frozen=True):
    """A request that waits for its answer, and what it needs."""

    request: Request
    header: RequestHeader
    plan: Plan
    is_unanswered: bool


def plan_of(request: Request, release: str, names: Names) -> Planned | None:
    """The plan of a request; None for one that needs nothing or cannot be read."""
    try:
        header, at = read_request_header(request.frame)
        message = codecs.read_request(header.api_key, header.api_version, request.frame, at)
    except ProtocolError:
        return None
    plan = access_plan(header.api_key, header.api_version, message, release, names)
    if not (plan.needs or plan.possible or plan.unknown):
        return None
    is_unanswered = header.api_key == ApiKey.PRODUCE and message.acks == 0
    return Planned(request, header, plan, is_unanswered)


def derived_rows(
    planned: Planned, response: Response | None, release: str, names: Names
) -> list[AccessRow]:
    """The accesses of a request; without an answer none is known to be decided."""
    answer = None if response is None else read_answer(response)
    if answer is None:
        return _rows(planned, release, lambda _: None)
    header, plan = planned.header, planned.plan
    answered = answered_by(
        header.api_key, header.api_version, plan, answer, release=release, names=names
    )
    found = _rows(planned, release, answered.decision)
    named = {action for need in plan.needs for action in need.actions}
    for requirement in plan.listed:
        found += [
            _access_row(planned, need, allowed=True, release=release)
            for name in answered.shown(requirement)
            if (need := any_of(rows_of(release)[requirement], name)).actions[-1] not in named
        ]
    return found


def silent_rows(planned: Planned, release: str) -> list[AccessRow]:
    """The accesses of a request to which no answer is sent, once a later one was answered.

    A broker closes the connection rather than pass over a denial in silence.
    """
    return _rows(planned, release, lambda _: True)


def _rows(
    planned: Planned, release: str, decision: Callable[[AnyOf], bool | None]
) -> list[AccessRow]:
    plan = planned.plan
    found = [_access_row(planned, need, decision(need), release) for need in plan.needs]
    found += [_access_row(planned, need, None, release, POSSIBLE) for need in plan.possible]
    return found + [_unnamed(planned, row, release) for row in plan.unknown]


def _access_row(
    planned: Planned, need: AnyOf, allowed: bool | None, release: str, role: str = ""
) -> AccessRow:
    """The narrowest way that names something; the others are what would have done instead."""
    chosen = need.narrowest
    others = [action for action in need.actions if action != chosen]
    hides = rows_of(release)[need.requirement].effect(planned.header.api_version) is Effect.HIDE
    return AccessRow(
        planned.request.sequence,
        planned.request.time_us,
        planned.header.api_key,
        planned.header.api_version,
        chosen.operation,
        chosen.resource_type,
        chosen.resource_name,
        role or (LISTED if hides else EITHER if others else REQUIRED),
        tuple(
            access_text(action.operation, action.resource_type, action.resource_name)
            for action in others
        ),
        DERIVED,
        allowed,
        "",
    )


def _unnamed(planned: Planned, requirement: str, release: str) -> AccessRow:
    need = rows_of(release)[requirement].needs[-1]
    return AccessRow(
        planned.request.sequence,
        planned.request.time_us,
        planned.header.api_key,
        planned.header.api_version,
        need.operation,
        need.resource_type,
        "",
        UNNAMED,
        (),
        DERIVED,
        None,
        "",
    )
