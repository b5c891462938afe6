"""Accesses of traces that have none of their own: planned from requests, decided by their answers.

The plan is the broker's own (`authorizer.access_plan`). What it cannot know is said and not
guessed: a topic id whose name was not seen (`unnamed`), and what is asked in some states of the
broker only (`possible`). A fetch session's topics are in the request that names them, not in those
that go on with it, so counts are lower bounds.
"""

from collections.abc import Mapping
from functools import cache

import msgspec

from authorizer.access_plan import AnyOf, Plan, access_plan
from authorizer.requirement import BoundRequirement, Effect
from authorizer.requirements import bind
from pipeline.rows.answers import Errors, errors_of, read_answer
from pipeline.rows.asked import Asked
from pipeline.rows.roles import EITHER, LISTED, POSSIBLE, REQUIRED, UNNAMED, access_text
from protocol import codecs
from protocol.enums import ApiKey
from protocol.errors import ProtocolError
from protocol.headers import RequestHeader, read_request_header
from protocol.trace.entries import DERIVED, Request, Response

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


def asked_of(
    planned: Planned, response: Response | None, release: str, names: Names
) -> list[Asked]:
    """The accesses of a request; without an answer (there is none to acks=0) what was decided is
    taken for allowed if none was to be expected, else it is not known.
    """
    answer = None if response is None else read_answer(response)
    errors = None if answer is None else errors_of(answer)
    if planned.is_unanswered:
        errors = {}
    ids = {name: topic_id for topic_id, name in names.items()}
    found = [
        _asked(planned, need, _decided(need, planned, errors, release, ids), release)
        for need in planned.plan.needs
    ]
    found += [_asked(planned, need, None, release, POSSIBLE) for need in planned.plan.possible]
    return found + [_unnamed(planned, row, release) for row in planned.plan.unknown]


@cache
def _bound(release: str) -> dict[str, BoundRequirement]:
    return {row.id: bound for row, bound in bind(release).items()}


def _decided(
    need: AnyOf, planned: Planned, errors: Errors | None, release: str, ids: Mapping[str, bytes]
) -> bool | None:
    """Whether the requirement was met: the answer does not have its error for this name.

    None where a denial does not show as an error, or looks as if there were no such topic.
    """
    bound = _bound(release)[need.requirement]
    effect = bound.effect(planned.header.api_version)
    if errors is None or effect in (Effect.HIDE, Effect.VALUE, Effect.EMPTY):
        return None
    name = need.actions[-1].resource_name
    keys = {None, name, ids.get(name)}
    plan = planned.plan
    alike = [one for one in plan.needs if one.requirement == need.requirement]
    if len(alike) == 1 and need.requirement not in plan.unknown:
        keys |= errors.keys()  # nothing else can be meant, whatever it is called in the answer
    codes: set[int] = set().union(*(errors.get(key, ()) for key in keys))
    if bound.error in codes:
        return False
    return None if bound.hidden_as is not None and bound.hidden_as in codes else True


def _asked(
    planned: Planned, need: AnyOf, allowed: bool | None, release: str, role: str = ""
) -> Asked:
    """The narrowest way that names something; the others are what would have done instead."""
    ways = list(zip(need.actions, need.any_name, strict=True))
    named = [action for action, is_any in ways if not is_any]
    chosen = named[-1] if named else ways[-1][0]
    others = [action for action in need.actions if action != chosen]
    hides = _bound(release)[need.requirement].effect(planned.header.api_version) is Effect.HIDE
    return Asked(
        planned.request.sequence,
        planned.request.time_us,
        planned.header.api_key,
        planned.header.api_version,
        chosen.operation,
        chosen.resource_type,
        chosen.resource_name,
        role or (LISTED if hides else EITHER if others else REQUIRED),
        tuple(access_text(one.operation, one.resource_type, one.resource_name) for one in others),
        DERIVED,
        allowed,
        "",
    )


def _unnamed(planned: Planned, requirement: str, release: str) -> Asked:
    need = _bound(release)[requirement].needs[-1]
    return Asked(
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
