"""Rules about single decisions: which ACLs apply, and what they allow together."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Final

from kafka_shim.protocol.enums import Operation, PatternType, ResourceType
from tests.recordings.conformance.rules.rule import (
    ALLOW,
    DENY,
    LITERAL,
    NAME,
    OWN,
    PREFIXED,
    ROOT,
    Ask,
    Entry,
    Rule,
    cluster_asks,
    describe,
    describe_cluster,
    describe_configs,
    fetch,
    metadata,
    own,
    produce,
)

PLACES: Final[dict[str, tuple[str, PatternType]]] = {
    "a name": (NAME, LITERAL),
    "a prefix": ("{p}-na", PREFIXED),
    "`*`": ("*", LITERAL),
}
NETWORKS_SINCE: Final = "4.4"
STANDARD_SINCE: Final = "3.2"
"""The first release with StandardAuthorizer."""
LONG: Final = "{p}-name-with-many-letters-0123456789-0123456789-0123456789"
STARRED: Final = "*{p}"
IMPLYING: Final = (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER)
NOT_IMPLYING: Final = (
    Operation.CREATE,
    Operation.CLUSTER_ACTION,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
    Operation.IDEMPOTENT_WRITE,
)


def _beside(entry: Entry) -> Entry:
    """Return an ALLOW of the same operation that applies if this DENY does not."""
    return Entry(operation=entry.operation, types=entry.types)


def applying(
    mistake: str, asks: Sequence[Ask] = own(), since: str = "0.11", before: str = "99", **acl: Any
) -> Iterator[Rule]:
    """Yield an ALLOW that applies, and a DENY that applies beside an ALLOW."""
    name = acl.pop("asked", NAME)
    asks = own(name) if name != NAME else asks
    denial = Entry(DENY, **acl)
    allow = _beside(denial)._replace(
        name=denial.name if ResourceType.CLUSTER in denial.types else name
    )
    topics = _topics(asks, name)
    yield Rule(mistake, "ALLOW", [Entry(ALLOW, **acl)], asks, topics, (), since, before)
    yield Rule(mistake, "DENY", [denial, allow], asks, topics, (), since, before)


def _topics(asks: Sequence[Ask], name: str) -> Sequence[str]:
    """Return the topic, which has to exist if all operations on it are asked."""
    has_operations = any("include_topic_authorized_operations" in ask.request for ask in asks)
    return [name] if has_operations else []


ignored = applying
"""Such an ALLOW does not apply, and such a DENY does not either; brokers decide which."""


def _denials() -> Iterator[Rule]:
    for (allow, allowed), (deny, denied) in product(PLACES.items(), PLACES.items()):
        entries = [Entry(ALLOW, *allowed), Entry(DENY, *denied)]
        yield Rule(f"DENY on {deny} is ignored", f"beside ALLOW on {allow}", entries, own())
    for user, other in (("User:bob", "User:*"), ("User:*", "User:bob"), ("User:*", "User:*")):
        entries = [Entry(ALLOW, principal=user), Entry(DENY, principal=other)]
        yield Rule(f"DENY of {other} is ignored", f"beside ALLOW of {user}", entries, own())
    hosts = ("127.0.0.1", "*")
    for host, other in product(hosts, hosts):
        entries = [Entry(ALLOW, host=host), Entry(DENY, host=other)]
        yield Rule(f"DENY from {other} is ignored", f"beside ALLOW from {host}", entries, own())
    pairs = ((None, Operation.ALL), (Operation.ALL, None), (Operation.ALL, Operation.ALL))
    for allowing, denying in pairs:
        entries = [Entry(ALLOW, operation=allowing), Entry(DENY, operation=denying)]
        words = [_operation_text(each) for each in (denying, allowing)]
        yield Rule(f"DENY of {words[0]} is ignored", f"beside ALLOW of {words[1]}", entries, own())
    entries = [Entry(ALLOW, operation=Operation.DESCRIBE), Entry(DENY, operation=Operation.ALL)]
    mistake = "DENY of All leaves DESCRIBE"
    yield Rule(mistake, "beside ALLOW of DESCRIBE", entries, describe(), [NAME])
    entries = [Entry(ALLOW), Entry(DENY, operation=Operation.ALL)]
    yield Rule(mistake, "beside an ALLOW that implies it", entries, describe(), [NAME])


def _operation_text(operation: Operation | None) -> str:
    return "an operation" if operation is None else operation.name.capitalize()


def _operations() -> Iterator[Rule]:
    on_topics: dict[str, Any] = {"types": [ResourceType.TOPIC]}
    for operation in IMPLYING:
        name = operation.name
        allow, asks = Entry(ALLOW, operation=operation), describe()
        yield Rule(f"ALLOW of {name} does not imply DESCRIBE", "", [allow], asks, [NAME])
        entries = [Entry(ALLOW, operation=Operation.DESCRIBE), Entry(DENY, operation=operation)]
        mistake = f"DENY of {name} also denies DESCRIBE"
        yield Rule(mistake, "beside ALLOW of DESCRIBE", entries, asks, [NAME])
        entries = [Entry(ALLOW, operation=Operation.ALL), Entry(DENY, operation=operation)]
        yield Rule(mistake, "beside ALLOW of All", entries, asks, [NAME])
        entries = [allow, Entry(DENY, operation=Operation.DESCRIBE)]
        mistake = "DENY of DESCRIBE leaves what is implied"
        yield Rule(mistake, f"beside ALLOW of {name}", entries, asks, [NAME])
    for operation in NOT_IMPLYING:
        mistake = f"ALLOW of {operation.name} implies DESCRIBE"
        yield Rule(mistake, "", [Entry(ALLOW, operation=operation)], describe(), [NAME])
        entries = [Entry(ALLOW, operation=Operation.DESCRIBE), Entry(DENY, operation=operation)]
        mistake = f"DENY of {operation.name} also denies DESCRIBE"
        yield Rule(mistake, "", entries, describe(), [NAME])
    entries = [Entry(ALLOW), Entry(DENY, operation=Operation.DESCRIBE)]
    yield Rule("DENY of DESCRIBE also denies what implies it", "", entries, own())
    for operation in (Operation.DESCRIBE, Operation.ALTER_CONFIGS, Operation.DELETE):
        entries = [Entry(ALLOW, operation=operation)]
        yield Rule("ALLOW covers other operations", operation.name, entries, own())
    entries = [Entry(ALLOW, operation=Operation.WRITE, **on_topics)]
    yield Rule("ALLOW covers other operations", "WRITE", entries, [fetch()])
    configs = (
        describe_configs(),
        metadata(),
        describe_configs("kafka-cluster"),
        describe_cluster(),
    )
    cluster: dict[str, Any] = {"types": [ResourceType.CLUSTER], "name": "kafka-cluster"}
    describing = Entry(ALLOW, operation=Operation.DESCRIBE, **on_topics)
    for permission, operation in product((ALLOW, DENY), (Operation.ALTER_CONFIGS, Operation.ALL)):
        mistake = f"ALLOW of {operation.name} does not imply DESCRIBE_CONFIGS"
        if permission is DENY:
            verb = "leaves" if operation is Operation.ALL else "also denies"
            mistake = f"DENY of {operation.name} {verb} DESCRIBE_CONFIGS"
        kinds = (on_topics, cluster)
        entries = [Entry(permission, operation=operation, **kind) for kind in kinds]
        if permission is DENY:
            configs_allowed = Operation.DESCRIBE_CONFIGS
            entries += [Entry(ALLOW, operation=configs_allowed, **kind) for kind in kinds]
        yield Rule(mistake, "", [describing, *entries], configs, [NAME])


def _sums() -> Iterator[Rule]:
    """Yield rules about several ACLs, of which more than the most specific one counts."""
    other = Operation.DESCRIBE_CONFIGS
    for (far, place), (near, nearer) in (
        (("`*`", ("*", LITERAL)), ("a name", (NAME, LITERAL))),
        (("`*`", ("*", LITERAL)), ("a prefix", ("{p}-na", PREFIXED))),
        (("a prefix", ("{p}-na", PREFIXED)), ("a name", (NAME, LITERAL))),
        (("a prefix", ("{p}-", PREFIXED)), ("a longer prefix", ("{p}-na", PREFIXED))),
    ):
        mistake = "an ACL on a more specific pattern hides the others"
        case = f"{near} and {far}"
        entries = [Entry(ALLOW, *place), Entry(ALLOW, *nearer, operation=other)]
        yield Rule(mistake, f"{case}, other operation", entries, own())
        entries = [Entry(ALLOW, *place), Entry(ALLOW, *nearer, principal="User:alice")]
        yield Rule(mistake, f"{case}, other principal", entries, own())
        entries = [Entry(DENY, *place), Entry(ALLOW, *nearer)]
        yield Rule("ALLOW on a more specific pattern wins", case, entries, own())
        entries = [Entry(ALLOW, *place), Entry(DENY, *nearer)]
        yield Rule("ALLOW on a less specific pattern wins", case, entries, own())
    yield Rule("without ACLs everything is allowed", "", [], [*own(), *describe()])
    entries = [Entry(ALLOW, principal="User:alice")]
    yield Rule("an ACL of another principal allows", "", entries, own())
    entries = [Entry(ALLOW), Entry(DENY, principal="User:alice")]
    yield Rule("an ACL of another principal denies", "", entries, own())
    entries = [Entry(DENY, operation=other)]
    yield Rule("DENY of another operation allows", "", entries, own())
    entries = [Entry(ALLOW), Entry(DENY, operation=other)]
    yield Rule("DENY covers other operations", "", entries, own())


def _names() -> Iterator[Rule]:
    for mistake, name in (
        ("names are compared without case", "{p}-NAME"),
        ("a literal name covers names that begin with it", "{p}-nam"),
        ("a literal name covers its own beginning", "{p}-name2"),
        ("a literal name covers names that end with it", "name"),
        ("a literal name is read as a pattern", "{p}-na*"),
        ("a literal name is read as a pattern", "{p}-nam?"),
        ("a literal name is read as a regular expression", "{p}-na.e"),
        ("a literal name is read as a regular expression", ".*"),
        ("spaces in names are ignored", "{p}-name "),
    ):
        yield from _with_case(ignored(mistake, name=name), f"`{name.removeprefix('{p}-')}`")
    for mistake, name in (
        ("prefixes are compared without case", "{p}-NA"),
        ("a prefix covers what it is longer than", "{p}-name2"),
        ("a prefix covers names that contain it", "name"),
        ("a prefix with `*` is read as a pattern", "{p}-na*"),
    ):
        acl: dict[str, Any] = {"name": name, "pattern": PREFIXED}
        yield from _with_case(ignored(mistake, **acl), f"`{name.removeprefix('{p}-')}`")
    for mistake, name in (
        ("a prefix is ignored", "{p}-na"),
        ("a prefix that equals the name is ignored", NAME),
        ("a short prefix is ignored", "{p}"),
    ):
        yield from applying(mistake, name=name, pattern=PREFIXED)
    long_prefix: dict[str, Any] = {"pattern": PREFIXED, "asked": LONG}
    yield from applying("a long prefix is ignored", name=LONG[:-1], **long_prefix)
    for length in (12, 25, 40):
        other = f"{LONG[:length]}X"
        mistake = "only the first letters of a prefix count"
        yield from _with_case(ignored(mistake, name=other, **long_prefix), f"{length} letters")
    yield from applying("`*` is ignored", name="*")
    yield from ignored("a prefix `*` covers all names", name="*", pattern=PREFIXED)
    starred: dict[str, Any] = {"asked": STARRED}
    covering: dict[str, Any] = {"name": "*", **starred}
    mistake = "`*` does not cover names that begin with `*`"
    yield from applying(mistake, before=STANDARD_SINCE, **covering)
    yield from ignored("`*` covers names that begin with `*`", since=STANDARD_SINCE, **covering)
    yield from applying("a prefix `*` is ignored", name="*", pattern=PREFIXED, **starred)
    yield from applying("a name that begins with `*` is ignored", name=STARRED, **starred)
    yield from ignored("a name that begins with `*` is read as a pattern", name="*name")


def _with_case(rules: Iterator[Rule], case: str) -> Iterator[Rule]:
    for rule in rules:
        yield rule._replace(case=f"{rule.case} on {case}")


def _principals() -> Iterator[Rule]:
    for mistake, principal in (
        ("principals are compared without case", "User:BOB"),
        ("principals are compared without case", "User:Bob"),
        ("a principal covers names that begin with it", "User:bo"),
        ("a principal covers the beginning of its name", "User:bobby"),
        ("a principal covers names that end with it", "User:ob"),
        ("a principal's name is read as a pattern", "User:bo*"),
        ("a principal's name is read as a pattern", "User:*ob"),
        ("a principal's name is read as a pattern", "User:b?b"),
        ("a principal's name is read as a regular expression", "User:b.b"),
        ("a principal's name is read as a regular expression", "User:.*"),
        ("a principal's type is ignored", "Group:bob"),
        ("a principal's type is ignored", "Group:*"),
        ("a principal's type is compared without case", "user:bob"),
        ("spaces in principals are ignored", "User: bob"),
    ):
        yield from _with_case(ignored(mistake, principal=principal), f"`{principal}`")
    yield from applying("ACLs of User:* are ignored", principal="User:*")
    for mistake, users in (
        ("super users are compared without case", ["carol"]),
        ("a super user's name is a prefix", ["alice"]),
        ("a super user's type is ignored", ["alice"]),
        ("User:* is a super user", ["alice", "bob", "carol"]),
    ):
        asks = [ask for user in users for ask in (*own(user=user), *describe(user=user))]
        yield Rule(mistake, "without ACLs", [], asks)
    for case, entries in (
        ("without ACLs", []),
        ("beside DENY of the user", [Entry(DENY, principal="User:admin")]),
        ("beside DENY of User:*", [Entry(DENY, principal="User:*")]),
    ):
        yield Rule("super users need ACLs", case, entries, own(user="admin"))
        yield Rule("super users need ACLs", f"anonymous, {case}", entries, own(user=ROOT))


def _hosts() -> Iterator[Rule]:
    for host in ("127.0.0.2", "127.0.1.1", "10.0.0.1"):
        yield from _with_case(ignored("hosts are ignored", host=host), host)
    for host in ("127.0.0.10", "127.0.0.11", "127.0.0.100"):
        yield from _with_case(ignored("hosts are compared as prefixes", host=host), host)
    for mistake, host in (
        ("hosts are compared as prefixes", "127.0.0."),
        ("hosts are compared as prefixes", "127"),
        ("a host is read as a pattern", "127.0.0.*"),
        ("a host is resolved", "localhost"),
    ):
        yield from _with_case(ignored(mistake, before=NETWORKS_SINCE, host=host), host)
    yield from applying("ACLs of a host are ignored", host="127.0.0.1")
    yield from applying("ACLs from `*` are ignored", host="*")
    for host in ("127.0.0.0/8", "127.0.0.1/32", "127.0.0.0/31", "0.0.0.0/0", "126.0.0.0/7"):
        networks = applying("networks are ignored", since=NETWORKS_SINCE, host=host)
        yield from _with_case(networks, host)
        texts = ignored("hosts are read as networks", before=NETWORKS_SINCE, host=host)
        yield from _with_case(texts, host)
    for mistake, host in (
        ("a network covers addresses outside", "127.0.0.2/31"),
        ("a network covers addresses outside", "10.0.0.0/8"),
        ("a network covers addresses outside", "128.0.0.0/1"),
        ("a network of IPv6 covers IPv4", "::/0"),
    ):
        yield from _with_case(ignored(mistake, since=NETWORKS_SINCE, host=host), host)


def _types() -> Iterator[Rule]:
    mistake = "ACLs of one type apply to another"
    for (place, where), kind in product(PLACES.items(), OWN):
        others = [ask for each, ask in zip(OWN, own(), strict=True) if each is not kind]
        entries = [Entry(ALLOW, *where, types=[kind])]
        yield Rule(mistake, f"ALLOW of {kind.name} on {place}", entries, others)
        entries = [
            Entry(DENY, *where, types=[kind]),
            Entry(ALLOW, types=[each for each in OWN if each is not kind]),
        ]
        yield Rule(mistake, f"DENY of {kind.name} on {place}", entries, others)
    cluster = [ResourceType.CLUSTER]
    entries = [Entry(ALLOW, "kafka-cluster", operation=Operation.ALL, types=cluster)]
    yield Rule("ACLs on the cluster apply to all resources", "", entries, own())
    describing_cluster: dict[str, Any] = {
        "types": cluster,
        "operation": Operation.DESCRIBE,
        "name": "kafka-cluster",
    }
    yield from applying("ACLs on the cluster are ignored", cluster_asks(), **describing_cluster)
    for kind in OWN:
        other = Entry(ALLOW, "*", operation=Operation.ALL, types=[kind])
        mistake = "ACLs on other types apply to the cluster"
        yield Rule(mistake, kind.name, [other], cluster_asks())


def _apart() -> Iterator[Rule]:
    """Yield rules about requests that follow one another: each has a decision of its own."""
    other = "{p}-other"
    again = "a decision is used for another"
    allow = [Entry(ALLOW, other)]
    yield Rule(f"{again} resource", "", allow, [*own(other), *own(), *own(other)])
    deny = [Entry(ALLOW, "*"), Entry(DENY, other)]
    yield Rule(f"{again} resource", "DENY", deny, [*own(other), *own(), *own(other)])
    yield Rule(f"{again} user", "", [Entry(ALLOW)], [*own(), *own(user="alice"), *own()])
    deny = [Entry(ALLOW, principal="User:*"), Entry(DENY)]
    yield Rule(f"{again} user", "DENY", deny, [*own(), *own(user="alice"), *own()])
    asks = [*own(), *describe(), produce(NAME), *own()]
    yield Rule(f"{again} operation", "", [Entry(ALLOW)], asks, [NAME])
    deny = [Entry(ALLOW, operation=Operation.ALL), Entry(DENY, operation=Operation.DESCRIBE)]
    yield Rule(f"{again} operation", "DENY", deny, asks, [NAME])


def decision_rules() -> Iterator[Rule]:
    """Yield all rules about single decisions."""
    for part in (_denials, _operations, _sums, _names, _principals, _hosts, _types, _apart):
        yield from part()


def later_decision_rules() -> Iterator[Rule]:
    """Yield rules that were added after others had been recorded, which keep their numbers."""
    asked: dict[str, Any] = {"asked": "{p}.name"}
    yield from ignored("dots and underscores in names are equal", name="{p}_name", **asked)
    yield from ignored("dots and dashes in names are equal", name=NAME, **asked)
