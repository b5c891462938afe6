"""Stories of connections: tokens, re-authentication, and requests that wait meanwhile."""

from collections.abc import Callable

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from kafka_shim.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
)
from kafka_shim.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
)
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.recordings.conformance.draw import USERS
from tests.recordings.conformance.stories.consuming import described, offsets_of
from tests.recordings.conformance.stories.producing import fetched, offsets
from tests.recordings.conformance.stories.rebalancing import Modern, group_described, simple_commit
from tests.recordings.conformance.stories.sharing import produced
from tests.recordings.conformance.telling import Move, Story, Teller

SOON_MS = 1_200
"""A broker takes an earlier re-authentication for an ordinary request."""
WAITING_MS = 3_000
MANY_BYTES = 1 << 20


def by_token(teller: Teller) -> Story:
    """Clients log in with a token, which acts as its owner, and expires meanwhile (KIP-48)."""
    draw = teller.draw
    topic, group = draw.pick(*draw.topics), draw.pick(*draw.groups)
    created = teller.label()
    renewer = CreatableRenewers(principal_type="User", principal_name=draw.pick(*USERS))
    create = CreateDelegationTokenRequest(renewers=[renewer], max_lifetime_ms=-1)
    yield Move(ApiKey.CREATE_DELEGATION_TOKEN, create, label=created)
    first, second = (f"{teller.user}/{name}{teller.number}" for name in "tu")

    def by(connection: str, move: Move) -> Move:
        return move._replace(user=connection, token=created)

    ways: list[Callable[[], Move]] = [
        lambda: produced(topic),
        lambda: fetched(topic),
        lambda: simple_commit(group, topic),
        lambda: offsets_of(group, topic),
        lambda: described(group),
        lambda: Move(ApiKey.LIST_GROUPS, ListGroupsRequest()),
    ]
    for way in draw.some(ways, 2, 4):
        yield by(first, way())
    yield by(first, Move(ApiKey.CREATE_DELEGATION_TOKEN, create))
    yield by(first, Move(ApiKey.DESCRIBE_DELEGATION_TOKEN, DescribeDelegationTokenRequest(None)))
    expire = ExpireDelegationTokenRequest(hmac=b"none", expiry_time_period_ms=-1)
    takes = {"hmac": f"{created}:hmac"}
    user = draw.pick("", "", *USERS)
    yield Move(ApiKey.EXPIRE_DELEGATION_TOKEN, expire, takes, user=user)
    for connection in draw.pick((first, second), (second, first)):
        for way in draw.some(ways, 1, 2):
            yield by(connection, way())


def authenticated_again(teller: Teller) -> Story:
    """A connection authenticates again, as the same user or as another one (KIP-368)."""
    draw = teller.draw
    topic = draw.pick(*draw.topics)
    connection = f"{teller.user}/a{teller.number}"
    yield fetched(topic)._replace(user=connection)
    for _ in range(draw.number(1, 3)):
        user = draw.pick(teller.user, teller.user, *USERS)
        secret = draw.pick(*[f"{user}-secret"] * 5, "wrong")
        mechanism = draw.pick(*["PLAIN"] * 6, "SCRAM-SHA-256", "GSSAPI")
        token = f"\0{user}\0{secret}".encode()
        after_ms = SOON_MS if draw.chance(0.8) else 0
        yield Move(
            ApiKey.SASL_HANDSHAKE,
            SaslHandshakeRequest(mechanism=mechanism),
            version=1,
            user=connection,
            after_ms=after_ms,
        )
        authenticate = SaslAuthenticateRequest(auth_bytes=token)
        yield Move(ApiKey.SASL_AUTHENTICATE, authenticate, user=connection)
        for move in draw.some([fetched(topic), offsets(topic), produced(topic)], 1, 2):
            yield move._replace(user=connection)


def waiting_fetch(teller: Teller) -> Story:
    """A Fetch waits while records, permissions and the topic change."""
    draw = teller.draw
    topic = draw.pick(*draw.topics)
    connection = f"{teller.user}/w{teller.number}"
    waits = fetched(topic)
    waits.request.max_wait_ms, waits.request.min_bytes = WAITING_MS, MANY_BYTES
    for partition in waits.request.topics[0].partitions:
        partition.fetch_offset = draw.pick(0, 0, 0, 99)
    yield produced(topic)
    yield waits._replace(user=connection, later=True)
    yield from draw.some([produced(topic), offsets(topic), fetched(topic)], 1, 2)
    yield fetched(topic)._replace(user=connection)


def changing_while_revoking(teller: Teller) -> Story:
    """A member that has to revoke partitions changes its subscription before (KIP-848).

    Each member subscribes to one topic, since the ids of several decide who gets which.
    """
    draw = teller.draw
    group = draw.fresh("g-c")
    topic, other = draw.random.sample(draw.topics, 2)
    first = Modern(teller, group, teller.user)
    second = Modern(teller, group, f"{teller.user}/{teller.number}")
    yield first.join(subscribed_topic_names=[topic])
    yield first.alive(topic)
    yield second.join(subscribed_topic_names=[topic])
    if draw.chance(0.5):
        yield first.alive(topic)
    changes: list[dict[str, object]] = [
        {"subscribed_topic_names": []},
        {"subscribed_topic_names": [other]},
    ]
    if draw.has(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1):
        expression = draw.pick(f"{draw.prefix}-none", other)
        changes.append({"subscribed_topic_names": [], "subscribed_topic_regex": expression})
    for change in draw.some(changes, 1, 3):
        yield first.alive(*draw.pick((topic,), (topic,), ()), **change)
        ways = (second.alive, lambda: group_described(group), lambda: second.commit(topic))
        yield draw.pick(*ways)()
    yield first.alive(topic)
    yield group_described(group)
    request = first.alive()
    request.request.topic_partitions = []
    yield request
    yield second.alive()
    yield first.alive()
    yield group_described(group)
    yield first.leave()
    yield second.alive()
    yield group_described(group)
