"""Scenarios of several principals whose permissions change between the steps of their stories.

Unlike scripts, they change exactly the permissions that a next step needs, members of a group are
different users, connections use tokens and authenticate again, and timeouts pass. They need a
broker behind sockets with `settings_of(release)`.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from kafka_shim.client.version_fields import reset_unsupported_fields
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from tests.oracle.real_kafka import numbers
from tests.recordings.conformance import generate
from tests.recordings.conformance.draw import ADMIN, USERS, Draw
from tests.recordings.conformance.scenario import ONE_SEGMENT, Scenario, Step, topic_id_of
from tests.recordings.conformance.scripts import STORIES, everything, story_step
from tests.recordings.conformance.stories import connecting, expiring
from tests.recordings.conformance.telling import Move, Story, Teller

ALWAYS: Final[dict[Callable[[Teller], Story], ApiKey]] = {
    connecting.by_token: ApiKey.CREATE_DELEGATION_TOKEN,
    connecting.authenticated_again: ApiKey.SASL_AUTHENTICATE,
    connecting.waiting_fetch: ApiKey.FETCH,
    connecting.changing_while_revoking: ApiKey.CONSUMER_GROUP_DESCRIBE,
}
"""Further stories, with the API that a release must support for each."""
TIMED: Final[dict[Callable[[Teller], Story], ApiKey]] = {
    expiring.classic_session: ApiKey.JOIN_GROUP,
    expiring.classic_rebalance: ApiKey.JOIN_GROUP,
    expiring.transaction: ApiKey.INIT_PRODUCER_ID,
    expiring.modern_session: ApiKey.SHARE_GROUP_HEARTBEAT,
    expiring.modern_revocation: ApiKey.CONSUMER_GROUP_DESCRIBE,
    expiring.share_session: ApiKey.SHARE_FETCH,
    expiring.share_locks: ApiKey.SHARE_FETCH,
    expiring.streams_session: ApiKey.STREAMS_GROUP_HEARTBEAT,
}
"""Stories that take several seconds, as timeouts pass."""

NEEDED: Final = {
    ResourceType.TOPIC: (Operation.READ, Operation.WRITE, Operation.DESCRIBE),
    ResourceType.GROUP: (Operation.READ, Operation.READ, Operation.DESCRIBE),
    ResourceType.TRANSACTIONAL_ID: (Operation.WRITE, Operation.DESCRIBE),
}
"""The operations that steps of stories need."""
FIELDS: Final = {
    "group_id": ResourceType.GROUP,
    "transactional_id": ResourceType.TRANSACTIONAL_ID,
    "v3_and_below_transactional_id": ResourceType.TRANSACTIONAL_ID,
    "name": ResourceType.TOPIC,
    "topic": ResourceType.TOPIC,
    "topic_name": ResourceType.TOPIC,
}
STEPS: Final = 60
CHANGE_SHARE: Final = 0.22
STRAY_SHARE: Final = 0.04
TIMED_SHARE: Final = 0.25
DENIALS_MAX: Final = 3


def settings_of(release: str) -> dict[str, str]:
    """Return the settings of both brokers: low minimal timeouts, SCRAM for tokens."""
    found = {
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
        "group.min.session.timeout.ms": "1000",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
    }
    if numbers(release) >= (2, 2):
        found["connections.max.reauth.ms"] = "3600000"
    for kind, since in (("consumer", (4,)), ("share", (4, 1)), ("streams", (4, 1))):
        if numbers(release) >= since:
            found[f"group.{kind}.min.session.timeout.ms"] = "1000"
            found[f"group.{kind}.min.heartbeat.interval.ms"] = "500"
            found[f"group.{kind}.heartbeat.interval.ms"] = "1000"
    if numbers(release) >= (4, 1):
        found["group.share.min.record.lock.duration.ms"] = "1000"
    return found


def interleaved(release: str, seed: int) -> Scenario:
    """Return the scenario of a seed; the same release and seed give the same one."""
    return _Interleaving(Draw(release, seed, f"i{seed}")).scenario()


class _Interleaving:
    """A scenario that is being made: its stories, and the permissions that were taken away."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._denials: list[AclCreation] = []
        self._partners: dict[str, str] = {}
        self._number = 0

    def scenario(self) -> Scenario:
        draw = self._draw
        kinds = [*NEEDED, ResourceType.CLUSTER]
        acls = [everything(user, kind) for user in USERS for kind in kinds if draw.chance(0.92)]
        told = [self._story() for _ in range(draw.number(2, 4))]
        if draw.chance(TIMED_SHARE):
            told = [*told[:2], self._story(TIMED)]
        steps = list(self._steps(told))
        plain = [generate.plain(acl) for acl in acls]
        return Scenario(draw.prefix, draw.topics, draw.groups, plain, steps, ONE_SEGMENT)

    def _story(
        self, stories: dict[Callable[[Teller], Story], ApiKey] | None = None
    ) -> tuple[Teller, Story]:
        draw = self._draw
        known = STORIES | ALWAYS if stories is None else stories
        if stories is None and draw.chance(0.3):
            known = ALWAYS
        chosen = draw.pick(*[story for story, api in known.items() if draw.has(api)])
        self._number += 1
        teller = Teller(draw, draw.pick(*USERS), self._number)
        partner = f"{teller.user}/{teller.number}"
        self._partners[partner] = f"{draw.pick(*USERS)}/{teller.number}"
        return teller, chosen(teller)

    def _steps(self, told: list[tuple[Teller, Story]]) -> Iterator[Step]:
        draw = self._draw
        strays = [key for key in generate.TEMPLATES if key in draw.versions]
        waiting: dict[int, Move] = {}
        urgent: tuple[Teller, Story] | None = None
        for number in range(STEPS):
            if not told:
                return
            if urgent is None and draw.chance(STRAY_SHARE):
                key = draw.pick(*strays)
                yield generate.step(draw, key, draw.number(*draw.versions[key]), number)
                continue
            teller, story = urgent or draw.pick(*told)
            move = waiting.pop(teller.number, None) or next(story, None)
            if move is None:
                told.remove((teller, story))
                continue
            if not move.directly and draw.chance(CHANGE_SHARE):
                yield self._change(teller, move)
                waiting[teller.number] = move
                urgent = teller, story  # the step that needs the permission comes next
                continue
            yield self._step(teller, move)
            after = next(story, None)
            urgent = None
            if after is not None:
                waiting[teller.number] = after
                urgent = (teller, story) if after.directly else None

    def _step(self, teller: Teller, move: Move) -> Step:
        return story_step(teller, move._replace(user=self._connection(teller, move)))

    def _connection(self, teller: Teller, move: Move) -> str:
        user = move.user or teller.user
        return self._partners.get(user, user)

    # permissions

    def _change(self, teller: Teller, move: Move) -> Step:
        """Return a step that takes or gives back a permission, mostly one for this move."""
        draw = self._draw
        if self._denials and (len(self._denials) >= DENIALS_MAX or draw.chance(0.4)):
            return self._restored(self._denials.pop(draw.number(0, len(self._denials) - 1)))
        names = {topic_id_of(name): name for name in draw.topics}
        needs = sorted(
            {
                (kind, name)
                for kind, name in _resources(move.request, names)
                if name.startswith(draw.prefix)
            }
        )
        kind, name = draw.pick(*needs) if needs else (ResourceType.TOPIC, draw.pick(*draw.topics))
        user = self._connection(teller, move).partition("/")[0]
        acl = everything(user, kind)
        acl.operation = draw.pick(*NEEDED[kind], Operation.ALL)
        acl.permission_type = Permission.DENY
        acl.resource_name = name if name and draw.chance(0.8) else "*"
        if draw.rules.has_prefixed_patterns and name and draw.chance(0.15):
            acl.resource_name = name[: draw.number(len(draw.prefix), len(name))]
            acl.resource_pattern_type = PatternType.PREFIXED
        self._denials.append(acl)
        return self._admin(ApiKey.CREATE_ACLS, CreateAclsRequest(creations=[acl]))

    def _restored(self, acl: AclCreation) -> Step:
        chosen = DeleteAclsFilter(
            resource_type_filter=acl.resource_type,
            resource_name_filter=acl.resource_name,
            pattern_type_filter=acl.resource_pattern_type,
            principal_filter=acl.principal,
            host_filter=acl.host,
            operation=acl.operation,
            permission_type=acl.permission_type,
        )
        return self._admin(ApiKey.DELETE_ACLS, DeleteAclsRequest(filters=[chosen]))

    def _admin(self, api: ApiKey, request: msgspec.Struct) -> Step:
        version = self._draw.number(*self._draw.versions[api])
        return Step(
            ADMIN,
            api.wire_name,
            version,
            generate.plain(reset_unsupported_fields(request, version)),
        )


def _resources(request: Any, names: dict[bytes, str]) -> Iterator[tuple[ResourceType, str]]:
    """Yield the topics, groups and transactional ids that a request names."""
    if isinstance(request, list):
        for row in request:
            yield from _resources(row, names)
    elif isinstance(request, msgspec.Struct):
        for field in request.__struct_fields__:
            value = getattr(request, field)
            if field in FIELDS and isinstance(value, str) and value:
                yield FIELDS[field], value
            elif field == "topic_id" and value in names:
                yield ResourceType.TOPIC, names[value]
            else:
                yield from _resources(value, names)
