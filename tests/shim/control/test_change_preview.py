"""Previews, against the decisions of the broker after the change was really made."""

import itertools
import random
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from kafka_shim.shim.control import bodies, state_bodies
from kafka_shim.testing import KafkaBroker, start
from tests.shim.control.plain_http import Http, fails, works

TOPICS = ("orders", "orders-eu", "payments")
PRINCIPALS = ("User:alice", "User:bob", "User:zoe")
OPERATIONS = ("Read", "Write", "Describe", "Delete", "All")
_EVERYONE = re.compile(r"everyone(?: else)? \(User:\*(?: but (.*))?\)")
Access = tuple[str, str, str]
"""A principal, an operation, and a topic."""


@pytest.fixture(scope="module")
def small() -> Iterator[KafkaBroker]:
    """A broker with three topics."""
    with start(in_process=False) as broker:
        for topic in TOPICS:
            broker.topics.create(topic)
        yield broker


@pytest.fixture
def http(small: KafkaBroker) -> Http:
    http = Http(str(small.control_url))
    listed = works(http.ask("GET", "/acls"), bodies.AclRows)["acls"]
    works(http.ask("POST", "/acls/remove", {"acls": listed}), bodies.AclRows)
    return http


def random_rule(chosen: random.Random) -> dict[str, str]:
    rule = {
        "principal": chosen.choice(("User:alice", "User:bob", "User:*")),
        chosen.choice(("allow", "allow", "deny")): chosen.choice(OPERATIONS),
        "topic": chosen.choice(("orders", "ord", "*", "payments", "p")),
    }
    if rule["topic"] != "*" and chosen.random() < 0.5:
        rule["pattern"] = "prefixed"
    return rule


def allowed_accesses(http: Http) -> set[Access]:
    """Return everything that is allowed on the existing topics, as the broker decides it."""
    found = set()
    for principal, topic in itertools.product(PRINCIPALS, TOPICS):
        query = f"principal={quote(principal)}&resource_type=TOPIC&resource_name={topic}"
        access = works(http.ask("GET", f"/access?{query}"), state_bodies.AccessOfPrincipal)
        for row in access["operations"]:
            if row["allowed"]:
                found.add((principal, row["operation"], topic))
    return found


def accesses_in_words(row: dict[str, Any], principals: list[str]) -> set[Access]:
    """Return the accesses to existing topics that a row names."""
    names, resource = row["access"].split(" on ", 1)
    operations = [re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper() for name in names.split(", ")]
    assert "topic" in resource
    return set(itertools.product(principals, operations, row["existing"]))


def principals_in_words(text: str) -> list[str]:
    everyone = _EVERYONE.fullmatch(text)
    if everyone is None:
        return [text]
    excepted = (everyone[1] or "").split(", ")
    return [name for name in PRINCIPALS if name not in excepted]


def without_any_name(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if "at least one" not in row["access"]]


@pytest.mark.parametrize("seed", range(25))
def test_a_preview_is_what_the_change_does(http: Http, seed: int) -> None:
    chosen = random.Random(seed)
    present = [random_rule(chosen) for _ in range(chosen.randrange(8))]
    if present:
        works(http.ask("POST", "/acls", {"acls": present}), bodies.AclRows)
    listed = works(http.ask("GET", "/acls"), bodies.AclRows)["acls"]
    removed = chosen.sample(listed, min(len(listed), chosen.randrange(3)))
    change = {
        "remove": removed,
        "add": [random_rule(chosen) for _ in range(chosen.randrange(1, 3))],
    }
    before = allowed_accesses(http)
    preview = works(http.ask("POST", "/acls/preview", change), state_bodies.ChangePreview)
    assert allowed_accesses(http) == before  # nothing has changed
    if removed:
        works(http.ask("POST", "/acls/remove", {"acls": removed}), bodies.AclRows)
    works(http.ask("POST", "/acls", {"acls": change["add"]}), bodies.AclRows)
    after = allowed_accesses(http)
    for gained, expected in ((True, after - before), (False, before - after)):
        rows = [row for row in without_any_name(preview["changes"]) if row["gained"] is gained]
        told = [accesses_in_words(row, principals_in_words(row["principal"])) for row in rows]
        assert set[Access]().union(*told) == expected


@pytest.mark.parametrize("seed", range(25))
def test_two_principals_differ_as_the_broker_decides(http: Http, seed: int) -> None:
    chosen = random.Random(seed)
    rules = [random_rule(chosen) for _ in range(8)]
    works(http.ask("POST", "/acls", {"acls": rules}), bodies.AclRows)
    allowed = allowed_accesses(http)
    response = http.ask("GET", "/principals/difference?first=User:alice&second=User:bob")
    rows = works(response, state_bodies.PrincipalDifferences)["differences"]
    for one, other in (("User:alice", "User:bob"), ("User:bob", "User:alice")):
        expected = {
            (one, *rest)
            for principal, *rest in allowed
            if principal == one and (other, *rest) not in allowed
        }
        told = [
            accesses_in_words(row, [one]) for row in without_any_name(rows) if row["only"] == one
        ]
        assert set[Access]().union(*told) == expected


def test_the_reasons_are_those_of_each_principal(http: Http) -> None:
    rules = [
        {"principal": "User:alice", "allow": "Read", "topic": "orders"},
        {"principal": "User:bob", "deny": "All", "topic": "orders"},
    ]
    works(http.ask("POST", "/acls", {"acls": rules}), bodies.AclRows)
    response = http.ask("GET", "/principals/difference?first=User:alice&second=User:bob")
    [row] = works(response, state_bodies.PrincipalDifferences)["differences"]
    assert (row["only"], row["existing"]) == ("User:alice", ["orders"])
    assert row["because"] == [
        "{principal: User:alice, allow: Read, topic: orders}",
        "{principal: User:bob, deny: All, topic: orders}",
    ]


def test_a_change_without_effect_is_told(http: Http) -> None:
    rules = [{"principal": "User:alice", "allow": "All", "topic": "*"}]
    works(http.ask("POST", "/acls", {"acls": rules}), bodies.AclRows)
    narrower = [{"principal": "User:alice", "allow": "Read", "topic": "orders"}]
    preview = works(
        http.ask("POST", "/acls/preview", {"add": narrower}), state_bodies.ChangePreview
    )
    assert preview["changes"] == preview["observed"] == []


def test_an_acl_without_effect_is_warned_about(http: Http) -> None:
    rule = {"principal": "User:alice", "allow": "Read", "topic": "orders", "host": "not-an-address"}
    preview = works(http.ask("POST", "/acls/preview", {"add": [rule]}), state_bodies.ChangePreview)
    assert preview["changes"] == []
    assert [text for text in preview["warnings"] if "not-an-address" in text]
    assert works(http.ask("GET", "/acls"), bodies.AclRows)["acls"] == []


def test_principals_that_are_none_are_rejected(http: Http) -> None:
    fails(http.ask("GET", "/principals/difference?first=:alice&second=bob"), 400, "expected")
    fails(http.ask("GET", "/principals/difference?first=alice"), 400, "expected")
    fails(http.ask("POST", "/acls/preview", {"add": [{"principal": "x"}]}), 400, "acl 1")
