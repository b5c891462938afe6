"""Draws random names, users and ACLs for a scenario, repeatable from its seed."""

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.protocol.api_versions import parse_minor_release, served_versions
from kafka_shim.protocol.enums import (
    CLUSTER_NAME,
    ApiKey,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from kafka_shim.protocol.messages.create_acls import AclCreation
from kafka_shim.protocol.releases.facts import facts_of_release
from tests.recordings.conformance.scenario import GHOST_ID, topic_id_of

Item = TypeVar("Item")

USERS: Final = ("alice", "bob", "carol")
ADMIN: Final = "admin"
ANONYMOUS: Final = "anonymous"
BAD_TOPICS: Final = ("", ".", "..", "not/legal", "spaced out", "x" * 250)
INTERNAL_TOPICS: Final = ("__consumer_offsets", "__transaction_state", "__cluster_metadata")
PRINCIPALS: Final = {
    "User:alice": 38,
    "User:bob": 24,
    "User:carol": 10,
    "User:*": 18,
    "Group:alice": 4,
    "Group:*": 2,
    "User:alicea": 2,
    "User:ali": 2,
}
HOSTS: Final = {
    "*": 66,
    "127.0.0.1": 17,
    "10.1.2.3": 7,
    "localhost": 2,
    "127.0.0.0/8": 4,
    "127.0.0.1/32": 1,
    "0.0.0.0/0": 1,
    "10.0.0.0/8": 1,
    "::/0": 1,
}
KINDS: Final = {
    ResourceType.TOPIC: 44,
    ResourceType.GROUP: 20,
    ResourceType.CLUSTER: 18,
    ResourceType.TRANSACTIONAL_ID: 12,
    ResourceType.DELEGATION_TOKEN: 2,
    ResourceType.USER: 4,
}


class Asked(NamedTuple):
    """A random request, and the values that it takes from earlier responses (see `Step.takes`)."""

    request: Any
    takes: Mapping[str, str] = {}


class Made(NamedTuple):
    """An earlier step, from whose response later steps can take values."""

    label: str
    user: str
    version: int
    request: Any


class Draw:
    """The names of a scenario, and random choices."""

    def __init__(self, release: str, seed: int, prefix: str = "") -> None:
        minor = parse_minor_release(release)
        self.random = random.Random(f"{minor} {seed}")
        self.versions = served_versions(minor)
        self.facts = facts_of_release(minor)
        self.rules = acl_rules_of_release(minor)
        self.prefix = prefix = prefix or f"s{seed}"
        self.topics = [f"{prefix}-orders", f"{prefix}-orders-eu", f"{prefix}-pay", f"{prefix}.log"]
        self.ghosts = [f"{prefix}-ghost", f"{prefix}-orders-new"]
        self.groups = [f"{prefix}-g-app", f"{prefix}-g-app2", f"{prefix}-h"]
        self.transactional_ids = [f"{prefix}-tx", f"{prefix}-tx2"]
        self.user = USERS[0]
        self.made: dict[ApiKey, list[Made]] = {}
        self._fresh = 0

    # --- choices

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, *items: Item) -> Item:
        return self.random.choice(items)

    def weighted(self, weights: Mapping[Item, float]) -> Item:
        return self.random.choices(list(weights), list(weights.values()))[0]

    def number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def some(self, items: Sequence[Item], low: int = 1, high: int = 3) -> list[Item]:
        """Return a few items, sometimes with a duplicate."""
        found = self.random.sample(items, min(len(items), self.number(low, high)))
        if found and self.chance(0.06):
            found.append(found[0])
        return found

    def has(self, api: ApiKey, version: int = 0) -> bool:
        return api in self.versions and self.versions[api][1] >= version

    # --- names

    def fresh(self, kind: str) -> str:
        self._fresh += 1
        return f"{self.prefix}-{kind}{self._fresh}"

    def topic(self) -> str:
        kind = self.weighted({"real": 66, "ghost": 24, "bad": 5, "internal": 5})
        if kind == "bad":
            return self.pick(*BAD_TOPICS)
        if kind == "internal":
            return self.pick(*INTERNAL_TOPICS)
        return self.pick(*(self.topics if kind == "real" else self.ghosts))

    def topic_names(self, low: int = 1, high: int = 3) -> list[str]:
        """Return topic names for a request, mostly without duplicates, as in sane clients."""
        if self.chance(0.04):
            return []
        names = self.some([*self.topics, *self.ghosts], low, high)
        if self.chance(0.12):
            names.append(self.topic())
        return names

    def topic_id(self, name: str) -> bytes:
        """Return the scenario's id of a topic; the play replaces it by the cluster's id."""
        return GHOST_ID if name in self.ghosts and self.chance(0.5) else topic_id_of(name)

    def group(self) -> str:
        if self.chance(0.03):
            return ""
        return self.pick(*self.groups, *self.groups, f"{self.prefix}-g-none")

    def transactional_id(self) -> str:
        return "" if self.chance(0.03) else self.pick(*self.transactional_ids)

    def principal(self) -> str:
        return self.weighted(PRINCIPALS)

    def earlier(self, *apis: ApiKey, share: float = 0.75) -> Made | None:
        """Return an earlier step to continue, if any, mostly as the same user."""
        found = [made for api in apis for made in self.made.get(api, ())]
        if not found or not self.chance(share):
            return None
        made = self.random.choice(found[-4:])
        if self.chance(0.8):
            self.user = made.user
        return made

    # --- ACLs

    def acls(self) -> list[AclCreation]:
        """Return a scenario's initial ACLs; sometimes they allow a user nearly everything."""
        found = [self.acl() for _ in range(self.number(3, 14))]
        if self.chance(0.4):
            kinds = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
            found += [_allow_all(kind, "*") for kind in kinds]
        if self.chance(0.3):
            found.append(_allow_all(ResourceType.CLUSTER, CLUSTER_NAME))
        return found

    def acl(self) -> AclCreation:
        kinds = dict(KINDS)
        if not self.rules.has_delegation_token_resource:
            del kinds[ResourceType.DELEGATION_TOKEN]
        if not self.rules.has_user_resource:
            del kinds[ResourceType.USER]
        kind = self.weighted(kinds)
        name, pattern = self._pattern(kind)
        return AclCreation(
            resource_type=kind,
            resource_name=name,
            resource_pattern_type=pattern,
            principal=self.principal(),
            host=self.weighted(HOSTS),
            operation=self._operation(kind),
            permission_type=self.weighted({Permission.ALLOW: 75, Permission.DENY: 25}),
        )

    def resource_name(self, kind: ResourceType) -> str:
        names = {
            ResourceType.TOPIC: [*self.topics, *self.ghosts],
            ResourceType.GROUP: self.groups,
            ResourceType.CLUSTER: [CLUSTER_NAME],
            ResourceType.TRANSACTIONAL_ID: self.transactional_ids,
            ResourceType.DELEGATION_TOKEN: [f"{self.prefix}-token"],
            ResourceType.USER: [f"User:{user}" for user in USERS],
        }
        return self.pick(*names[kind])

    def _pattern(self, kind: ResourceType) -> tuple[str, PatternType]:
        name = self.resource_name(kind)
        if kind is ResourceType.CLUSTER:
            return name, PatternType.LITERAL
        place = self.random.random()
        if place < 0.16:
            return "*", PatternType.LITERAL
        if place < 0.45 and self.rules.has_prefixed_patterns:
            length = self.number(min(len(self.prefix), len(name)), len(name))
            return name[:length], PatternType.PREFIXED
        if place < 0.47 and self.rules.has_prefixed_patterns:
            return "*", PatternType.PREFIXED
        return name, PatternType.LITERAL

    def _operation(self, kind: ResourceType) -> Operation:
        """Return an operation, mostly one that the resource type supports; ACLs may have any."""
        if self.chance(0.05):
            return Operation(self.number(Operation.ALL, Operation.IDEMPOTENT_WRITE))
        return self.pick(*OPERATIONS[kind])


def _allow_all(kind: ResourceType, name: str) -> AclCreation:
    return AclCreation(
        resource_type=kind,
        resource_name=name,
        resource_pattern_type=PatternType.LITERAL,
        principal="User:alice",
        host="*",
        operation=Operation.ALL,
        permission_type=Permission.ALLOW,
    )


_TOPIC_OPERATIONS = (
    *(Operation.READ, Operation.WRITE, Operation.CREATE, Operation.DELETE, Operation.ALTER),
    *(Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS, Operation.ALL),
)
OPERATIONS: Final[Mapping[ResourceType, Sequence[Operation]]] = {
    ResourceType.TOPIC: _TOPIC_OPERATIONS,
    ResourceType.GROUP: (
        *(Operation.READ, Operation.READ, Operation.DESCRIBE, Operation.DELETE, Operation.ALL),
        *(Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS),
    ),
    ResourceType.CLUSTER: (
        *(Operation.CREATE, Operation.ALTER, Operation.DESCRIBE, Operation.CLUSTER_ACTION),
        *(Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS, Operation.IDEMPOTENT_WRITE),
        *(Operation.DELETE, Operation.ALL),
    ),
    ResourceType.TRANSACTIONAL_ID: (Operation.WRITE, Operation.DESCRIBE, Operation.ALL),
    ResourceType.DELEGATION_TOKEN: (Operation.DESCRIBE, Operation.ALL),
    ResourceType.USER: (Operation.CREATE_TOKENS, Operation.DESCRIBE_TOKENS, Operation.ALL),
}
