"""Cases that only Kafka's own classes are asked, without a broker: their answers are recorded."""

import json
import random
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Final

from kafka_shim.authorizer import acl_rules
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, ResourceType
from tests.oracle.addresses import DECISIONS
from tests.oracle.authorizer_rules.questions import ADDRESS, Json, access

OPEN: Final = {"allow.everyone.if.no.acl.found": "true"}
ANYTHING: Final = ["ANY", None, None, "ANY", "ANY", "ANY", None]
TYPES: Final = (
    ResourceType.TOPIC,
    ResourceType.GROUP,
    ResourceType.TRANSACTIONAL_ID,
    ResourceType.CLUSTER,
    ResourceType.DELEGATION_TOKEN,
)
OPERATIONS: Final = [each for each in Operation if 1 < each <= Operation.IDEMPOTENT_WRITE]
ADDRESSES_A_CASE: Final = 60
NAMES: Final = ("a", "ab", "abc", "a.b", "b", "A", "hardcode", "team-", "team-x", "*", "*a", "ä-ö")
PRINCIPALS: Final = (
    "User:a",
    "User:b",
    "User:A",
    "User:*",
    "Group:a",
    "User:x:y",
    "User:CN=a,OU=b",
)
HOSTS: Final = ("*", "*", "*", "10.0.0.1", "10.0.0.2", "10.0.0.0/31", "10.0.0.0/8", "2001:db8::/32")
CLIENTS: Final = ("10.0.0.1", "10.0.0.2", "10.9.0.1", "192.0.2.1", "2001:db8::1", "::ffff:10.0.0.1")


def acl(
    permission: str = "ALLOW",
    name: str = "a",
    pattern: str = "LITERAL",
    *,
    principal: str = "User:a",
    host: str = "*",
    operation: str = "READ",
    kind: str = "TOPIC",
) -> str:
    return f"{permission}|{principal}|{host}|{operation}|{kind}|{pattern}|{name}"


def supported_operations(kind: ResourceType) -> list[Operation]:
    """Return the operations of a type that all releases here know."""
    all_operations = acl_rules.supported_operations(kind)
    return [each for each in all_operations if each <= Operation.IDEMPOTENT_WRITE]


def case(rule: str, title: str, acls: Sequence[Any], steps: Sequence[Json], **config: str) -> Json:
    return {
        "rule": rule,
        "case": title,
        "config": {key.replace("_", "."): value for key, value in config.items()},
        "acls": list(acls),
        "steps": list(steps),
    }


def direct_cases() -> Iterator[Json]:
    """Yield all cases without a recording of a broker."""
    yield from _addresses()
    yield from _everyone_allowed()
    yield from _super_user_lists()
    yield from _similar_texts()
    yield from _single_questions()
    yield from _new_operations()
    yield from _contract()
    yield from _unimportant()
    yield from _resource_type_cases()
    yield from _random_accesses()
    yield from _random_changes()


def _addresses() -> Iterator[Json]:
    rows = json.loads(DECISIONS.read_text(encoding="utf-8"))
    for start in range(0, len(rows), ADDRESSES_A_CASE):
        part = rows[start : start + ADDRESSES_A_CASE]
        acls = [acl(principal=f"User:{at}", host=row[0]) for at, row in enumerate(part)]
        steps = [
            access([f"User:{at}"], [row[1]], ResourceType.TOPIC, [Operation.READ], ["a"])
            for at, row in enumerate(part)
        ]
        yield case("addresses", f"notations from {start}", [], [{"create": acls}, *steps])


def _all_names(kind: ResourceType = ResourceType.TOPIC, principals: Sequence[str] = ()) -> Json:
    names = [CLUSTER_NAME] if kind is ResourceType.CLUSTER else ["a", "ab", "b", "*x", "hardcode"]
    who = principals or ["User:a", "User:b"]
    return access(who, [ADDRESS], kind, supported_operations(kind), names)


def _everyone_allowed() -> Iterator[Json]:
    by_type = access(["User:a"], [ADDRESS], ResourceType.TOPIC, [Operation.WRITE], None)
    questions = [*map(_all_names, TYPES), by_type]
    for title, acls in (
        ("no ACL", []),
        ("ALLOW on a name", [acl()]),
        ("DENY on a name", [acl("DENY")]),
        ("an ACL of another principal", [acl(principal="User:z")]),
        ("an ACL of another host", [acl(host="10.0.0.1")]),
        ("an ACL on a prefix", [acl(pattern="PREFIXED")]),
        ("an ACL on `*`", [acl(name="*")]),
        (
            "DENY on a prefix of another operation",
            [acl("DENY", "h", "PREFIXED", operation="ALTER")],
        ),
        ("an ACL on another type", [acl(kind="GROUP")]),
        ("an ACL on the cluster", [acl(name=CLUSTER_NAME, kind="CLUSTER")]),
        ("DENY of WRITE on `*`", [acl("DENY", "*", operation="WRITE")]),
    ):
        given = case("everyone-allowed", title, acls, questions)
        yield given | {"config": OPEN}
    gone = [{"delete": [ANYTHING]}, *questions]
    yield case("everyone-allowed", "after the last ACL is deleted", [acl()], gone) | {
        "config": OPEN
    }
    yield case("denied-by-default", "all types", [], questions)


def _super_user_lists() -> Iterator[Json]:
    users = [
        "User:a",
        "User:b",
        "User:B",
        "Group:g",
        "User:g",
        "User:x:y",
        "User:CN=a,OU=b",
        "User: s",
    ]
    denied = [acl("DENY", "*", principal="User:*", operation="ALL")]
    steps = [
        _all_names(principals=users),
        access(users, [ADDRESS], ResourceType.TOPIC, [Operation.WRITE], None),
    ]
    for text in (
        "User:a",
        "User:a;User:b",
        " User:a ; Group:g ",
        "User:x:y;User:CN=a,OU=b",
        "",
        ";User:b;",
    ):
        title = f"`{text}`"
        yield case("super-user-list", title, denied, steps) | {"config": {"super.users": text}}
        yield case("super-user-list", f"{title}, no ACL", [], steps) | {
            "config": {"super.users": text}
        }


def _similar_texts() -> Iterator[Json]:
    """Yield texts that look alike or are equal without case: each is allowed only its own name."""
    texts = (
        "a",
        "ä",
        "a\u0308",
        "A\u0308",
        "\uff41",
        "a\u200b",
        "a\u00a0",
        "ß",
        "ss",
        "k",
        "\u212a",
    )
    who = [f"User:{text}" for text in texts]
    for pattern, rule in (("LITERAL", "literal-names"), ("PREFIXED", "prefixes")):
        acls = [
            acl(name=text, principal=user, kind="GROUP", pattern=pattern)
            for text, user in zip(texts, who, strict=True)
        ]
        steps = [access(who, [ADDRESS], ResourceType.GROUP, [Operation.READ], texts)]
        yield case(rule, "letters that look alike", acls, steps)
    acls = [acl(name=f"n{at}", principal=user) for at, user in enumerate(who)]
    names = [f"n{at}" for at in range(len(texts))]
    steps = [access(who, [ADDRESS], ResourceType.TOPIC, [Operation.READ], names)]
    yield case("principals", "letters that look alike", acls, steps)


def _single_questions() -> Iterator[Json]:
    """Yield cases in which each decision looks like one before it."""
    user, group, topic = ["User:a"], ["Group:a", "Group:*"], ResourceType.TOPIC
    for permission in ("ALLOW", "DENY"):
        acls = [acl(), acl(principal="Group:a"), acl(permission, principal="User:*")]
        steps = [access([*user, *group], [ADDRESS], topic, [Operation.READ], ["a", "b"])]
        yield case("principals", f"{permission} of User:* for other types", acls[2:], steps)
        yield case("principals", f"{permission} of User:* for all types", acls, steps)
    hosts = ["10.0.0.1", "10.0.0.2", "10.0.0.1"]
    steps = [access(user, [host], topic, [Operation.READ], ["a"]) for host in hosts]
    steps += [access(user, [host], topic, [Operation.READ], None) for host in hosts]
    for permission, rest in (("ALLOW", []), ("DENY", [acl()])):
        acls = [*rest, acl(permission, host="10.0.0.1")]
        yield case("decisions-apart", f"{permission} from one of two hosts", acls, steps)


def _new_operations() -> Iterator[Json]:
    """Yield ALL of operations that came after most authorizers were written."""
    for kind, new, releases in (
        (ResourceType.USER, (13, 14), ["3.9", "4.3", "4.4"]),
        (ResourceType.TRANSACTIONAL_ID, (15,), ["4.3", "4.4"]),
    ):
        asked = access(["User:a", "User:b"], [ADDRESS], kind, [*map(Operation, new)], ["n"])
        acls = [acl(name="n", kind=kind.name, operation="ALL")]
        acls += [acl(name="n", kind=kind.name, operation="DESCRIBE", principal="User:b")]
        denied = acl("DENY", "n", kind=kind.name, operation="ALL")
        names = ", ".join(asked["operations"])
        for title, given in (("ALL", acls), ("DENY of ALL", [*acls, denied])):
            made = case("operation-exact", f"{title} and {names}", given, [asked])
            yield made | {"releases": releases}


def _contract() -> Iterator[Json]:
    count: Json = {"count": True}
    listing: Json = {"list": ANYTHING}
    three = [acl(), acl("DENY"), acl(pattern="PREFIXED")]
    steps = [
        count,
        {"create": [acl(), acl(name="b")]},
        count,
        {"delete": [[*ANYTHING[:6], "a"]]},
        count,
    ]
    yield case("acl-count", "created twice, deleted", three, steps)
    yield case("acl-count", "no ACL", [], [count])
    again = [{"create": [*three, acl()]}, listing, {"create": three[::-1]}, listing]
    yield case("acl-storage", "the same ACLs twice", three, again)
    everything = [acl(kind=each.name) for each in TYPES[1:3]]
    everything += [acl(operation=each.name, name=each.name) for each in OPERATIONS]
    everything += [acl(name=name, principal=who) for name, who in product(NAMES, PRINCIPALS)]
    yield case(
        "acl-storage", "all operations, types and names", [], [{"create": everything}, listing]
    )
    many = [acl(name=f"n{number}") for number in range(1100)]
    asked = access(
        ["User:a"], [ADDRESS], ResourceType.TOPIC, [Operation.READ], ["n0", "n999", "n1099"]
    )
    yield case("acl-storage", "1,100 ACLs", [], [{"create": many}, asked, {"list": ANYTHING}])
    long = [acl(name="n" * 249, principal=f"User:{'p' * 200}")]
    yield case("acl-storage", "long names", [], [{"create": long}, {"list": ANYTHING}])
    for title, wrong in (
        ("an empty name", acl(name="")),
        ("a principal without a type", acl(principal="a")),
        ("an empty principal", acl(principal="")),
        ("an unknown operation", acl(operation="UNKNOWN")),
        ("an unknown permission", acl("UNKNOWN")),
        ("an unknown type", acl(kind="UNKNOWN")),
        ("an unknown pattern type", acl(pattern="UNKNOWN")),
        ("an invalid network", acl(host="10.0.0.0/33")),
        ("a host name", acl(host="example.org")),
    ):
        create = {"create": [acl(name="b"), wrong, acl(name="c")]}
        yield case("invalid-acls", title, [acl()], [create, listing])
    changed = {"list": ANYTHING, "meanwhile": [acl(name="new"), acl(name="newer")]}
    yield case("acl-storage", "ACLs are created while a list is read", three, [changed])
    overlapping = {
        "delete": [[*ANYTHING[:6], "a"], [*ANYTHING[:4], "TOPIC", "ANY", None], ANYTHING]
    }
    yield case("acl-results", "overlapping filters", three, [overlapping, listing])
    yield case("acl-results", "no filter", three, [{"delete": []}, listing])
    yield case("acl-results", "no ACL", three, [{"create": []}, listing])
    unknown = [
        ["ANY", None, None, "UNKNOWN", "ANY", "ANY", None],
        ["ANY", None, None, "ANY", "UNKNOWN", "ANY", None],
    ]
    yield case("acl-filters", "unknown values", three, [{"list": each} for each in unknown])


def _unimportant() -> Iterator[Json]:
    """Yield cases in which something is different that no decision depends on."""
    acls = [
        acl(operation="ALL"),
        acl("DENY", operation="WRITE"),
        acl(name="ab", principal="User:*"),
        acl(name="hardcode", principal="User:b", host="10.0.0.1"),
    ]
    who = ["User:a", "User:b", "User:admin", "User:ANONYMOUS"]
    steps = [
        _all_names(principals=who),
        access(who, [ADDRESS], ResourceType.TOPIC, [Operation.WRITE, Operation.READ], None),
        _all_names(ResourceType.CLUSTER, who),
    ]
    for rule, flag in (
        ("audit-flags", "unlogged"),
        ("request-context", "other_request"),
        ("principal-classes", "own_class"),
        ("principal-classes", "token"),
    ):
        changed = [step | {flag: True} for step in steps]
        title = flag.replace("_", " ")
        yield case(rule, title, acls, changed) | {"config": {"super.users": "User:admin"}}
    at_once = [step | {"threads": True} for step in steps]
    yield case("threads", "a thread for each principal", acls, at_once)
    topics = [Operation.READ, Operation.WRITE, Operation.READ]
    names = ["a", "ab", "a", "none", "a"]
    yield case(
        "batches",
        "equal actions",
        acls,
        [access(who, [ADDRESS], ResourceType.TOPIC, topics, names)],
    )
    yield case(
        "batches", "no action", acls, [access(who, [ADDRESS], ResourceType.TOPIC, topics, [])]
    )
    types = {"types": [kind.name for kind in (ResourceType.TOPIC, ResourceType.GROUP)]}
    mixed = access(who, [ADDRESS], ResourceType.TOPIC, topics, names) | types
    yield case("batches", "actions on several types", [*acls, acl(kind="GROUP")], [mixed])
    many = [f"n{number}" for number in range(400)]
    some = [acl(name=name) for name in many[::3]]
    yield case(
        "batches",
        "400 actions",
        some,
        [access(who, [ADDRESS], ResourceType.TOPIC, topics[:1], many)],
    )


def _resource_type_cases() -> Iterator[Json]:
    """Yield authorizeByResourceType of all types and operations, also of invalid ones."""
    for kind in TYPES:
        name = CLUSTER_NAME if kind is ResourceType.CLUSTER else "a"
        acls = [
            acl(name=name, kind=kind.name),
            acl(name=name, kind=kind.name, principal="User:b", operation="ALL"),
            acl("DENY", name, kind=kind.name, principal="User:b", operation="WRITE"),
        ]
        steps = [access(["User:a", "User:b"], [ADDRESS], kind, [Operation.ANY, *OPERATIONS], None)]
        yield case("any-resource-scope", f"all operations on {kind.name}", acls, steps)
    odd = access(["User:a"], [ADDRESS], ResourceType.ANY, [Operation.READ], None)
    yield case("any-resource-scope", "an invalid type", [acl()], [odd])
    network = [acl(name="a", host="10.0.0.0/8", operation="WRITE")]
    from_networks = access(["User:a"], CLIENTS, ResourceType.TOPIC, [Operation.WRITE], None)
    yield case("networks", "any resource", network, [from_networks]) | {"releases": ["4.4"]}
    denied = [
        acl(name="a", operation="WRITE"),
        acl("DENY", "*", host="10.0.0.0/31", operation="WRITE"),
    ]
    yield case("networks", "any resource, DENY", denied, [from_networks]) | {"releases": ["4.4"]}


class RandomAcls:
    """Random ACLs that often apply to the same accesses."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self.kind = self._random.choice(TYPES[:3])
        self.operations = [*supported_operations(self.kind), Operation.ALL]
        self.principals = self._random.sample(PRINCIPALS, 3)
        self.choose = self._random.choice

    def acl(self) -> str:
        return acl(
            self.choose(("ALLOW", "ALLOW", "DENY")),
            self.choose(NAMES),
            self.choose(("LITERAL", "LITERAL", "PREFIXED")),
            principal=self.choose((*self.principals, "User:*")),
            host=self.choose(HOSTS),
            operation=self.choose(self.operations).name,
            kind=self.kind.name,
        )

    def acls(self, most: int) -> list[str]:
        return [self.acl() for _ in range(self._random.randint(1, most))]

    def filter(self) -> list[str | None]:
        row: list[str | None] = [*self.acl().split("|")]
        row[5] = self.choose(("LITERAL", "PREFIXED", "ANY", "MATCH"))
        keep = self._random.randint(1, 4)
        for at in self._random.sample([0, 1, 2, 3, 4, 6], 6 - keep):
            row[at] = ANYTHING[at]
        return row

    def questions(self) -> list[Json]:
        principals = [*(each for each in self.principals if each != "User:*"), "User:other"]
        addresses = self._random.sample(CLIENTS, 3)
        stems = self._random.sample(NAMES, 4)
        names = sorted({*stems, *(f"{stem}x" for stem in stems[:3])})
        asked = supported_operations(self.kind)
        return [
            access(principals, addresses, self.kind, asked, names),
            access(principals, addresses, self.kind, asked, None),
        ]


def _random_accesses() -> Iterator[Json]:
    for number in range(120):
        drawn = RandomAcls(f"accesses {number}")
        config: dict[str, str] = dict(OPEN) if number % 4 == 0 else {}
        if number % 5 == 0:
            config["super.users"] = f"{drawn.principals[0]};User:z"
        acls = drawn.acls(4 if number % 3 else 25)
        given = case("random-accesses", f"random ACLs {number}", acls, drawn.questions())
        yield given | {"config": config}


def _random_changes() -> Iterator[Json]:
    for number in range(40):
        drawn = RandomAcls(f"changes {number}")
        acls = drawn.acls(8)
        steps: list[Json] = []
        for _ in range(5):
            change: Json = {"create": [*drawn.acls(3), drawn.choose(acls)]}
            if drawn.choose((True, False)):
                change = {"delete": [drawn.filter() for _ in range(drawn.choose((1, 1, 2)))]}
            steps += [change, {"list": drawn.filter()}, drawn.questions()[drawn.choose((0, 1))]]
        steps.append({"list": ANYTHING})
        yield case("random-changes", f"random changes {number}", acls, steps)
