"""Principals of classes other than KafkaPrincipal, as their `toString` prints them."""

import json
from pathlib import Path

import pytest

from kafka_shim.traces.importers.authorizer_log import (
    InvalidDecisionError,
    parse_authorizer_log_line,
)
from kafka_shim.traces.importers.log_import import import_authorizer_log, import_request_log
from kafka_shim.traces.importers.logged_principal import principal_or_none
from tests.traces.importers.test_authorizer_log import LATER, OLDEST, RULE, STANDARD

STRIMZI = "OAuthKafkaPrincipal({}, groups: {}, session: {}, token: {})"
"""`toString` of strimzi-kafka-oauth, which its KeycloakAuthorizer logs, too."""
BLACKROCK = "CustomPrincipal{{oauthBearerTokenJwt={}}} {}"
"""`toString` of BlackRock's kafka-security."""


@pytest.mark.parametrize(
    ("logged", "principal"),
    [
        ("User:app", "User:app"),
        ("User:CN=a,O=b (x), c", "User:CN=a,O=b (x), c"),
        ("Group:a b", "Group:a b"),
        ("SPIFFE:spiffe://x/y", "SPIFFE:spiffe://x/y"),
        (STRIMZI.format("User:app", "null", "1", "eyJh**w8Ig"), "User:app"),
        (STRIMZI.format("User:app", "[]", "-77", "eyJh**w8Ig"), "User:app"),
        (STRIMZI.format("User:app", "[a, b (c)]", "", ""), "User:app"),
        (STRIMZI.format("User:CN=a, O=b", "[CN=g, O=b]", "1", "e**g"), "User:CN=a, O=b"),
        (STRIMZI.format("User:service-account-x", "[a]", "1", "e**g"), "User:service-account-x"),
        ("OAuthKafkaPrincipal(User:app, session:12, token:eyJh**w8Ig)", "User:app"),
        ("OAuthKafkaPrincipal(User:app, session:, token:)", "User:app"),
        (BLACKROCK.format("null", "User:app"), "User:app"),
        (BLACKROCK.format("Jwt{scope=[a], principal='x'}", "User:CN=a,O=b"), "User:CN=a,O=b"),
        ("MyPrincipal(User:app)", "User:app"),
        ("com.acme.MyPrincipal(User:app, groups=[a, b])", "User:app"),
        ("MyPrincipal[User:app@EXAMPLE.COM, roles: a]", "User:app@EXAMPLE.COM"),
        ("MyPrincipal{User:app; tenant: t}", "User:app"),
        ("MyPrincipal(User:app [a, b])", "User:app"),
        ("MyPrincipal(User:app groups=[a])", "User:app"),
    ],
)
def test_the_principal_is_type_and_name(logged: str, principal: str) -> None:
    assert principal_or_none(logged) == principal
    for line in (OLDEST.replace("User:bob", logged), LATER.replace("User:CN=bob,O=x", logged)):
        decision = parse_authorizer_log_line(line)
        assert decision is not None
        assert decision.principal == principal


@pytest.mark.parametrize(
    "logged",
    [
        "app",
        "MyPrincipal(app)",
        "MyPrincipal(User:CN=a,O=b)",  # the name may end before the comma
        "MyPrincipal(User:a, b)",
        "MyPrincipal(User:Jane Doe)",
        "MyPrincipal{principalType='User', name='app'}",
        "MyPrincipal(User:app",
        "(User:app)",
    ],
)
def test_other_forms_are_counted_and_shown(logged: str, tmp_path: Path) -> None:
    assert principal_or_none(logged) is None
    line = STANDARD.replace("User:CN=bob,O=x", logged) + " based on rule DefaultDeny"
    with pytest.raises(InvalidDecisionError):
        parse_authorizer_log_line(line)
    report = import_authorizer_log([f"{line}\n"], tmp_path)
    assert (report.entries, report.unread) == (0, 1)
    assert logged in report.examples[0].text


def test_a_rule_has_a_principal_of_its_own() -> None:
    logged = STRIMZI.format("User:CN=bob,O=x", "null", "1", "e**g")
    decision = parse_authorizer_log_line(RULE.replace("User:CN=bob,O=x", logged, 1))
    assert decision is not None
    assert decision.principal == "User:CN=bob,O=x"
    assert decision.rule == "TRANSACTIONAL_ID|t|PREFIXED|User:CN=bob,O=x|*|ALL|DENY"


@pytest.mark.parametrize(
    ("logged", "read"),
    [("User:app", 1), (STRIMZI.format("User:app", "null", "1", "e**g"), 1), ("X(app)", 0)],
)
def test_the_request_log_has_the_same_principals(logged: str, read: int, tmp_path: Path) -> None:
    lines = (Path(__file__).parent / "kafka_requests.txt").read_text().splitlines(keepends=True)
    line = next(line for line in lines if '"principal":"' in line)
    start = line.index("{")
    content = json.loads(line[start : line.rindex("}") + 1]) | {"principal": logged}
    report = import_request_log([f"{line[:start]}{json.dumps(content)}\n"], tmp_path)
    assert report.unread == 1 - read
    assert bool(report.entries) == bool(read)
