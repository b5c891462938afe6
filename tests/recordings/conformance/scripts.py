"""Scripts: scenarios that interleave several stories, so that requests affect each other.

A story is a sequence of related requests of one user. Stories are interleaved at random, with a
few random requests. Most users have nearly all permissions until an ACL denies something.
"""

from collections.abc import Callable
from typing import Any, Final

from kafka_shim.client.version_fields import reset_unsupported_fields
from kafka_shim.protocol.enums import (
    CLUSTER_NAME,
    ApiKey,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from tests.recordings.conformance import generate
from tests.recordings.conformance.draw import ADMIN, KINDS, USERS, Draw
from tests.recordings.conformance.scenario import ONE_SEGMENT, Scenario, Step
from tests.recordings.conformance.stories import (
    administering,
    arranging,
    consuming,
    fencing,
    migrating,
    mixing,
    outdating,
    producing,
    reading,
    rebalancing,
    sharing,
    sharing_pairs,
)
from tests.recordings.conformance.telling import ANY_VERSION, Move, Story, Teller

STORIES: Final[dict[Callable[[Teller], Story], ApiKey]] = {
    consuming.classic_member: ApiKey.JOIN_GROUP,
    consuming.classic_pair: ApiKey.JOIN_GROUP,
    consuming.modern_member: ApiKey.CONSUMER_GROUP_HEARTBEAT,
    rebalancing.static_replacement: ApiKey.INCREMENTAL_ALTER_CONFIGS,
    rebalancing.busy_group: ApiKey.JOIN_GROUP,
    rebalancing.modern_pair: ApiKey.CONSUMER_GROUP_DESCRIBE,
    rebalancing.modern_static: ApiKey.CONSUMER_GROUP_DESCRIBE,
    rebalancing.by_expression: ApiKey.SHARE_GROUP_HEARTBEAT,
    sharing.share_member: ApiKey.SHARE_FETCH,
    sharing.streams_member: ApiKey.STREAMS_GROUP_HEARTBEAT,
    sharing_pairs.share_pair: ApiKey.SHARE_FETCH,
    sharing_pairs.streams_pair: ApiKey.STREAMS_GROUP_HEARTBEAT,
    migrating.both_protocols: ApiKey.CONSUMER_GROUP_DESCRIBE,
    migrating.members_in_transactions: ApiKey.INIT_PRODUCER_ID,
    mixing.odd_members: ApiKey.CONSUMER_GROUP_DESCRIBE,
    mixing.other_kind: ApiKey.JOIN_GROUP,
    mixing.topic_gone: ApiKey.INIT_PRODUCER_ID,
    mixing.named_twice: ApiKey.PRODUCE,
    outdating.older_generations: ApiKey.JOIN_GROUP,
    outdating.older_epochs: ApiKey.CONSUMER_GROUP_DESCRIBE,
    outdating.moving_topics: ApiKey.STREAMS_GROUP_HEARTBEAT,
    outdating.leader_epochs: ApiKey.OFFSET_FOR_LEADER_EPOCH,
    producing.idempotent_producer: ApiKey.INIT_PRODUCER_ID,
    producing.transactional_producer: ApiKey.INIT_PRODUCER_ID,
    fencing.rivals: ApiKey.INIT_PRODUCER_ID,
    fencing.known_producer: ApiKey.INIT_PRODUCER_ID,
    fencing.out_of_turn: ApiKey.INIT_PRODUCER_ID,
    reading.fetch_session: ApiKey.DELETE_GROUPS,
    reading.log_life: ApiKey.PRODUCE,
    arranging.moved_partitions: ApiKey.ALTER_PARTITION_REASSIGNMENTS,
    arranging.many_topics: ApiKey.CREATE_TOPICS,
    arranging.other_settings: ApiKey.INCREMENTAL_ALTER_CONFIGS,
    administering.topic_life: ApiKey.CREATE_TOPICS,
    administering.settings: ApiKey.ALTER_CONFIGS,
    administering.acl_change: ApiKey.CREATE_ACLS,
    administering.token_life: ApiKey.CREATE_DELEGATION_TOKEN,
    administering.passwords: ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
    administering.quotas: ApiKey.ALTER_CLIENT_QUOTAS,
}
"""All stories, with the API that a release must support for each."""

STEPS: Final = 50
_STRAY_SHARE: Final = 0.08
_ACL_SHARE: Final = 0.07
_ALLOWED_SHARE: Final = 0.8


def script(release: str, seed: int) -> Scenario:
    """Return the script of a seed; the same release and seed give the same script."""
    draw = Draw(release, seed, f"t{seed}")
    acls = [draw.acl() for _ in range(draw.number(0, 4))]
    acls += [everything(user, kind) for user in USERS for kind in _kinds(draw)]
    known = [story for story, api in STORIES.items() if draw.has(api)]
    told = []
    for number in range(draw.number(2, 4)):
        user = ADMIN if draw.chance(0.1) else draw.pick(*USERS)
        teller = Teller(draw, user, number)
        told.append((teller, draw.pick(*known)(teller)))
    steps = list(_interleaved(draw, told))
    starting_acls = [generate.plain(acl) for acl in acls]
    return Scenario(draw.prefix, draw.topics, draw.groups, starting_acls, steps, ONE_SEGMENT)


def _interleaved(draw: Draw, told: list[tuple[Teller, Story]]) -> Any:
    strays = [key for key in generate.TEMPLATES if key in draw.versions]
    for number in range(STEPS):
        if not told:
            return
        if draw.chance(_ACL_SHARE):
            yield _acl_change(draw)
            continue
        if draw.chance(_STRAY_SHARE):
            key = draw.pick(*strays)
            yield generate.step(draw, key, draw.number(*draw.versions[key]), number)
            continue
        teller, story = draw.pick(*told)
        move = next(story, None)
        if move is None:
            told.remove((teller, story))
        else:
            yield story_step(teller, move)


def _acl_change(draw: Draw) -> Step:
    """Return a step that creates an ACL, or deletes all of a user's ACLs on a resource type."""
    api = ApiKey.CREATE_ACLS
    request: CreateAclsRequest | DeleteAclsRequest = CreateAclsRequest(creations=[draw.acl()])
    if draw.chance(0.3):
        api = ApiKey.DELETE_ACLS
        chosen = DeleteAclsFilter(
            resource_type_filter=draw.weighted(KINDS),
            resource_name_filter=None,
            pattern_type_filter=PatternType.ANY,
            principal_filter=draw.principal(),
            host_filter=None,
            operation=draw.pick(Operation.ANY, Operation.ALL, Operation.READ, Operation.DESCRIBE),
            permission_type=draw.pick(Permission.DENY, Permission.DENY, Permission.ALLOW),
        )
        request = DeleteAclsRequest(filters=[chosen])
    version = draw.number(*draw.versions[api])
    return Step(
        ADMIN, api.wire_name, version, generate.plain(reset_unsupported_fields(request, version))
    )


def story_step(teller: Teller, move: Move) -> Step:
    version = teller.version(move.api) if move.version == ANY_VERSION else move.version
    request = reset_unsupported_fields(move.request, version)
    assert generate.is_writable(request, version), (move.api, version, request)
    return Step(
        user=move.user or teller.user,
        api=move.api.wire_name,
        version=version,
        request=generate.plain(request),
        label=move.label,
        takes=dict(move.takes),
        later=move.later,
        after_ms=move.after_ms,
        token=move.token,
    )


def _kinds(draw: Draw) -> list[ResourceType]:
    kinds = [ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID]
    return [kind for kind in [*kinds, ResourceType.CLUSTER] if draw.chance(_ALLOWED_SHARE)]


def everything(user: str, kind: ResourceType) -> AclCreation:
    return AclCreation(
        resource_type=kind,
        resource_name=CLUSTER_NAME if kind is ResourceType.CLUSTER else "*",
        resource_pattern_type=PatternType.LITERAL,
        principal=f"User:{user}",
        host="*",
        operation=Operation.ALL,
        permission_type=Permission.ALLOW,
    )
