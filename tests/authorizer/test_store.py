"""The store of ACLs: a set with filters, a snapshot and an epoch."""

import pytest

from kafka_shim.authorizer.model import Acl, AclFilter, Actor
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP


def make(
    name: str = "orders",
    *,
    pattern: PatternType = PatternType.LITERAL,
    principal: str = "User:alice",
    operation: Operation = Operation.READ,
    permission: Permission = Permission.ALLOW,
    resource_type: ResourceType = TOPIC,
) -> Acl:
    return Acl(resource_type, name, pattern, principal, "*", operation, permission)


def test_a_fresh_store_is_empty() -> None:
    store = AclStore()
    assert len(store) == 0
    assert list(store) == []
    assert list(store.acls_matching(AclFilter())) == []
    assert store.snapshot() == ()
    assert store.epoch == 0
    assert make() not in store
    assert store.patterns_matching_name(TOPIC, "orders") == []
    assert store.subjects_including(Actor("User:alice", "h")) == []
    assert not store.remove(make())


def test_a_duplicate_is_stored_once_and_changes_nothing() -> None:
    store = AclStore([make(), make()])
    assert len(store) == 1
    epoch = store.epoch
    assert not store.add(make())
    assert store.epoch == epoch


def test_acls_differ_if_any_field_differs() -> None:
    acls = [
        make(),
        make("payments"),
        make(pattern=PatternType.PREFIXED),
        make(principal="User:bob"),
        make(operation=Operation.WRITE),
        make(permission=Permission.DENY),
        make(resource_type=GROUP),
        Acl(TOPIC, "orders", PatternType.LITERAL, "User:alice", "h", Operation.READ, Permission(3)),
    ]
    store = AclStore(acls)
    assert len(store) == len(acls)
    assert set(store) == set(acls)
    for acl in acls:
        assert store.remove(acl)
        assert acl not in store
        assert not store.remove(acl)
    assert store.snapshot() == ()
    assert list(store.acls_matching(AclFilter(principal="User:alice"))) == []


def test_many_subjects_of_a_pattern_are_added_and_removed_in_any_order() -> None:
    acls = [make(principal=f"User:u{n}") for n in range(5)]
    for order in (acls, acls[::-1], acls[2:] + acls[:2]):
        store = AclStore(acls)
        for n, acl in enumerate(order):
            assert store.remove(acl)
            assert set(store) == set(acls) - set(order[: n + 1])
        for acl in order:
            assert store.add(acl)
        assert set(store) == set(acls)


def test_the_epoch_never_goes_back() -> None:
    store = AclStore([make()])
    seen = [store.epoch]
    kept = store.snapshot()
    store.remove(make())
    seen.append(store.epoch)
    store.replace_all(kept)
    seen.append(store.epoch)
    store.replace_all(())
    seen.append(store.epoch)
    assert seen == sorted(set(seen))


def test_a_snapshot_is_restored_as_it_was() -> None:
    acls = [make(f"t{n}", principal=f"User:u{n % 3}") for n in range(20)]
    store = AclStore(acls)
    kept = store.snapshot()
    for acl in acls[::2]:
        store.remove(acl)
    store.add(make("new"))
    store.replace_all(kept)
    assert store.snapshot() == kept
    store.replace_all(acl for acl in store)  # from its own iterator
    assert store.snapshot() == kept


@pytest.mark.parametrize(
    ("acl_filter", "names"),
    [
        (AclFilter(), "* a a* ab ab* g"),
        (AclFilter(resource_type=GROUP), "g"),
        (AclFilter(resource_type=ResourceType.CLUSTER), ""),
        (AclFilter(resource_type=ResourceType.UNKNOWN), ""),
        (AclFilter(resource_name="ab"), "ab ab*"),
        (AclFilter(resource_name="ab", pattern_type=PatternType.LITERAL), "ab"),
        (AclFilter(resource_name="ab", pattern_type=PatternType.PREFIXED), "ab*"),
        (AclFilter(resource_name="ab", pattern_type=PatternType.MATCH), "* a* ab ab*"),
        (AclFilter(resource_name="abc", pattern_type=PatternType.MATCH), "* a* ab*"),
        (AclFilter(resource_name="*", pattern_type=PatternType.MATCH), "*"),
        (AclFilter(resource_name="*"), "*"),
        (AclFilter(resource_name=""), ""),
        (AclFilter(resource_name="", pattern_type=PatternType.MATCH), "*"),
        (AclFilter(pattern_type=PatternType.MATCH), "* a a* ab ab* g"),
        (AclFilter(pattern_type=PatternType.PREFIXED), "a* ab*"),
        (AclFilter(pattern_type=PatternType.UNKNOWN), ""),
        (AclFilter(principal="User:bob"), "a"),
        (AclFilter(principal="User:*"), ""),
        (AclFilter(principal="User:bob", resource_name="ab"), ""),
        (AclFilter(host="*"), "* a a* ab ab* g"),
        (AclFilter(host="10.0.0.1"), ""),
        (AclFilter(operation=Operation.READ), "* a a* ab ab*"),
        (AclFilter(operation=Operation.ALL), ""),
        (AclFilter(operation=Operation.UNKNOWN), ""),
        (AclFilter(permission=Permission.DENY), "g"),
        (AclFilter(permission=Permission.UNKNOWN), ""),
    ],
)
def test_filters(acl_filter: AclFilter, names: str) -> None:
    # `*`, `User:*` are plain text in a filter; None is any; only MATCH expands patterns
    store = AclStore(
        [
            make("*"),
            make("a", principal="User:bob"),
            make("a", pattern=PatternType.PREFIXED),
            make("ab"),
            make("ab", pattern=PatternType.PREFIXED),
            make("g", resource_type=GROUP, operation=Operation.WRITE, permission=Permission.DENY),
        ]
    )
    found = [
        acl.resource_name + ("*" if acl.pattern_type is PatternType.PREFIXED else "")
        for acl in store.acls_matching(acl_filter)
    ]
    assert sorted(found) == names.split()


@pytest.mark.parametrize(
    "acl",
    [
        make(operation=Operation.ANY),
        make(operation=Operation.UNKNOWN),
        make(permission=Permission.ANY),
        make(pattern=PatternType.MATCH),
        make(resource_type=ResourceType.ANY),
    ],
)
def test_acls_that_are_not_concrete_raise_an_error(acl: Acl) -> None:
    store = AclStore()
    with pytest.raises(AssertionError):
        store.add(acl)
    assert list(store) == []
    assert store.epoch == 0


def test_cached_lookups_end_when_acls_change() -> None:
    wide, other = make("ord", pattern=PatternType.PREFIXED), make(principal="User:bob")
    alice, bob = Actor("User:alice", "h"), Actor("User:bob", "h")
    store = AclStore([wide], caches_lookups=True)

    def found() -> tuple[list[str], int, int]:
        names = [
            pattern.resource_name for pattern in store.patterns_used_for_decision(TOPIC, "orders")
        ]
        return names, len(store.subjects_including(alice)), len(store.subjects_including(bob))

    assert found() == found() == (["ord"], 1, 0)
    store.add(other)
    assert found() == (["orders", "ord"], 1, 1)
    store.remove(wide)
    assert found() == (["orders"], 0, 1)
    store.replace_all([wide])
    assert found() == (["ord"], 1, 0)


class ChangeList:
    """An observer that lists the changes."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, Acl]] = []

    def on_acl_added(self, acl: Acl) -> None:
        self.changes.append(("added", acl))

    def on_acl_removed(self, acl: Acl) -> None:
        self.changes.append(("removed", acl))


def test_each_observer_gets_each_change_once() -> None:
    store, observers = AclStore([make("before")]), (ChangeList(), ChangeList())
    for observer in (*observers, *observers):  # a store is observed again after a reset
        store.add_observer(observer)
    for change in (store.add, store.add, store.remove, store.remove):
        change(make())
    for observer in observers:
        assert observer.changes == [("added", make()), ("removed", make())]
