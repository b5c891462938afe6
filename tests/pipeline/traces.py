"""Writes traces with random accesses, decided by the authorizer with random ACLs."""

import random
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, Action, Actor
from kafka_shim.authorizer.store import AclStore
from kafka_shim.policy.formats.trace_rule import format_decision_rule
from kafka_shim.policy.formats.yaml_rules import parse_rule
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.fetch import FetchRequest, FetchTopic
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.trace_format.entries import (
    Access,
    BlockBody,
    Connection,
    Entry,
    Request,
    Response,
)
from kafka_shim.trace_format.segments import SegmentWriter
from tests.support.frames import request_frame

PRINCIPALS = ("User:alice", "User:bob", "User:carol", "User:root")
HOSTS = ("10.0.0.1", "10.0.0.2")
TOPICS = ("orders", "orders-eu", "orders-us", "payments", "team.a.log", "team.b.log", "*eu")
GROUPS = ("billing", "billing-1", "audit")
NAMES = {ResourceType.TOPIC: TOPICS, ResourceType.GROUP: GROUPS}
START_US = 1_700_000_000_000_000

ASKED = (
    (ApiKey.FETCH, Operation.READ, ResourceType.TOPIC),
    (ApiKey.PRODUCE, Operation.WRITE, ResourceType.TOPIC),
    (ApiKey.LIST_OFFSETS, Operation.DESCRIBE, ResourceType.TOPIC),
    (ApiKey.JOIN_GROUP, Operation.READ, ResourceType.GROUP),
    (ApiKey.OFFSET_FETCH, Operation.DESCRIBE, ResourceType.GROUP),
    (ApiKey.DESCRIBE_CONFIGS, Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC),
    (ApiKey.DELETE_GROUPS, Operation.DELETE, ResourceType.GROUP),
)
"""APIs with a single required access."""


def random_acls(rng: random.Random, count: int) -> list[Acl]:
    """Return random ACLs: prefixed, wildcard, DENY, with hosts, and for User:*."""
    found = []
    for _ in range(count):
        kind = rng.choice((ResourceType.TOPIC, ResourceType.TOPIC, ResourceType.GROUP))
        name = rng.choice(NAMES[kind])
        pattern = PatternType.LITERAL
        if rng.random() < 0.3:
            name, pattern = name[: rng.randint(1, len(name))], PatternType.PREFIXED
        elif rng.random() < 0.2:
            name = "*"
        operations = [op for _, op, of in ASKED if of is kind] + [Operation.ALL, Operation.ALTER]
        found.append(
            Acl(
                kind,
                name,
                pattern,
                rng.choice((*PRINCIPALS[:3], "User:*")),
                rng.choice(("*", "*", *HOSTS)),
                rng.choice(operations),
                Permission.DENY if rng.random() < 0.2 else Permission.ALLOW,
            )
        )
    return list(dict.fromkeys(found))


class TraceMaker:
    """Writes a trace of requests and their accesses."""

    def __init__(self, folder: Path, authorizer: StandardAuthorizer, **options: object) -> None:
        self.writer = SegmentWriter(folder, "broker-1", **options)  # type: ignore[arg-type]
        self.authorizer = authorizer
        self.people: dict[tuple[str, str], int] = {}
        self.entries: list[Entry] = []
        self.sequence = 0

    def ask(
        self,
        principal: str,
        host: str,
        api: ApiKey,
        asked: list[tuple[Operation, ResourceType, str]],
        frame: bytes | None = None,
        version: int = 0,
    ) -> None:
        """Add a request and its accesses, in the given order."""
        number = self.people.setdefault((principal, host), len(self.people))
        when = START_US + self.sequence * 1000
        if frame is not None:
            self.entries.append(Request(number, self.sequence, when, frame))
        for operation, kind, name in asked:
            action = Action(operation, kind, name)
            if name == "*" and api is ApiKey.INIT_PRODUCER_ID:
                decision = self.authorizer.authorize_by_resource_type(
                    Actor(principal, host), operation, kind
                )
            else:
                decision = self.authorizer.authorize(Actor(principal, host), action)
            self.entries.append(
                Access(
                    number,
                    self.sequence,
                    when + 1,
                    int(api),
                    version,
                    int(operation),
                    int(kind),
                    name,
                    decision.allowed,
                    format_decision_rule(decision),
                )
            )
        self.sequence += 1

    def flush(self) -> None:
        people = [
            Connection(number, number, 1, "SASL", host, 5000 + number, principal, "PLAIN", "lib")
            for (principal, host), number in self.people.items()
        ]
        self.writer.write_block(BlockBody(people, self.entries))
        self.entries = []

    def close(self) -> None:
        if self.entries:
            self.flush()
        self.writer.close()


def random_trace(
    folder: Path,
    rng: random.Random,
    authorizer: StandardAuthorizer,
    requests: int = 400,
    names: int = 1,
) -> None:
    """Write random requests of `ASKED`, each with up to `names` names, in blocks of 50."""
    maker = TraceMaker(folder, authorizer)
    for n in range(requests):
        api, operation, kind = rng.choice(ASKED)
        asked = rng.sample(NAMES[kind], rng.randint(1, names))
        principal, host = rng.choice(PRINCIPALS), rng.choice(HOSTS)
        maker.ask(principal, host, api, [(operation, kind, name) for name in asked])
        if n % 50 == 49:
            maker.flush()
    maker.close()


def frame(api: ApiKey, version: int, message: msgspec.Struct, client_id: str = "app") -> bytes:
    return request_frame(api, version, message, 7, client_id)


def fetch_frame(*topics: str) -> bytes:
    return frame(ApiKey.FETCH, 11, FetchRequest(topics=[FetchTopic(topic=t) for t in topics]))


def create_frame(*topics: str) -> bytes:
    wanted = [CreatableTopic(name=t, num_partitions=1, replication_factor=1) for t in topics]
    return frame(ApiKey.CREATE_TOPICS, 5, CreateTopicsRequest(topics=wanted))


def all_topics_frame() -> bytes:
    return frame(ApiKey.METADATA, 9, MetadataRequest(topics=None))


def made(folder: Path, *rules: dict[str, Any]) -> Path:
    acls = [acl for rule in rules for acl in parse_rule(rule)]
    maker = TraceMaker(folder, StandardAuthorizer(store=AclStore(acls)))
    asked = [(Operation.READ, ResourceType.TOPIC, "orders")]
    for version in (3, 12):
        request = FetchRequest(topics=[FetchTopic(topic="orders")])
        maker.ask("User:a", "h", ApiKey.FETCH, asked, frame(ApiKey.FETCH, version, request))
    error = 0 if rules else 29
    for n in range(2):  # a Fetch response of version 7: throttle time, error, session, no topics
        response = bytes(4) + bytes(4) + error.to_bytes(2, "big") + bytes(8)
        when = START_US + n * 1000 + 250 * (n + 1)
        maker.entries.append(Response(0, n, when, ApiKey.FETCH, 7, response))
    maker.close()
    return folder
