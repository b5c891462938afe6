"""Describing and altering SCRAM credentials (KIP-554): responses as recorded from 4.3.1."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kafka_shim.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from tests.shim.play import ADMIN, Stage

SALT, SECRET = b"s" * 20, b"p" * 32
DELETION = ScramCredentialDeletion


def upsertion(name: str, mechanism: int = 1, iterations: int = 4096) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(name, mechanism, iterations, SALT, SECRET)


def alter(
    stage: Stage, deletions: Any = (), upsertions: Any = (), who: str = ADMIN
) -> list[tuple[str, int]]:
    request = AlterUserScramCredentialsRequest(list(deletions), list(upsertions))
    response = stage.ask(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, request, who)
    return sorted((result.user, result.error_code) for result in response.results)


def describe(stage: Stage, names: list[str] | None, who: str = ADMIN) -> Any:
    users = None if names is None else [UserName(name) for name in names]
    request = DescribeUserScramCredentialsRequest(users=users)
    return stage.ask(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, request, who)


def test_altered_credentials_are_described_without_keys() -> None:
    stage = Stage()
    zed = [upsertion("zed", 2, 8192)]
    assert alter(stage, (), [*zed, upsertion("abe")]) == [("abe", 0), ("zed", 0)]
    nobody: list[str] = []
    for names in (None, nobody):
        results = describe(stage, names).results
        found = {
            result.user: [(c.mechanism, c.iterations) for c in result.credential_infos]
            for result in results
        }
        assert found == {"zed": [(2, 8192)], "abe": [(1, 4096)]}
    assert alter(stage, [DELETION("zed", 2)]) == [("zed", 0)]
    (result,) = describe(stage, ["zed"]).results
    assert (result.error_code, result.credential_infos) == (ErrorCode.RESOURCE_NOT_FOUND, [])


@pytest.mark.parametrize(
    ("deletions", "upsertions", "outcome"),
    [
        ([], [], []),
        ([DELETION("", 1)], [], [("", 93)]),
        (
            [DELETION("x", 0), DELETION("y", 9), DELETION("n", 1)],
            [],
            [("n", 91), ("x", 33), ("y", 33)],
        ),
        ([], [upsertion("zed", 1, 4095)], [("zed", 93)]),
        ([], [upsertion("zed", 1, 16_385)], [("zed", 93)]),
        ([], [ScramCredentialUpsertion("q", 1, 4096, SALT, b"")], [("q", -1)]),
        (
            [],
            [upsertion("zed", 1), upsertion("zed", 2), upsertion("abe")],
            [("abe", 0), ("zed", 92)],
        ),
        ([DELETION("zed", 1)], [upsertion("zed"), upsertion("b")], [("b", 0), ("zed", 91)]),
    ],
)
def test_an_error_for_one_user_does_not_fail_the_others(
    deletions: Any, upsertions: Any, outcome: list[tuple[str, int]]
) -> None:
    assert alter(Stage(), deletions, upsertions) == outcome


def test_describing_a_user_twice_fails_for_that_user_only() -> None:
    stage = Stage()
    alter(stage, (), [upsertion("zed"), upsertion("abe")])
    results = describe(stage, ["zed", "zed", "no", "abe"]).results
    assert {result.user: result.error_code for result in results} == {"zed": 92, "no": 91, "abe": 0}


def test_a_denied_request_returns_empty_user_names() -> None:
    response = describe(Stage(), ["zed", "abe"], "User:alice")
    assert response.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert [(result.user, result.error_code) for result in response.results] == [("", 31), ("", 31)]


def test_a_denied_request_for_all_users_is_answered() -> None:
    """DEVIATION: a real broker fails to build this response and sends none."""
    response = describe(Stage(), None, "User:alice")
    assert response.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert response.results == []


def test_altering_needs_alter_on_the_cluster() -> None:
    stage = Stage()
    stage.allow("User:alice", Operation.DESCRIBE, ResourceType.CLUSTER, "kafka-cluster")
    denied = alter(stage, [DELETION("b", 1)], [upsertion("a")], "User:alice")
    assert denied == [("a", 31), ("b", 31)]
    stage.allow("User:alice", Operation.ALTER, ResourceType.CLUSTER, "kafka-cluster")
    assert alter(stage, (), [upsertion("a")], "User:alice") == [("a", 0)]


def test_configured_users_are_neither_shown_nor_changed() -> None:
    """On a real broker, users of its JAAS file are not in the metadata either."""
    stage = Stage(users={"alice": "alice-secret"})
    assert describe(stage, ["alice"]).results[0].error_code == ErrorCode.RESOURCE_NOT_FOUND
    assert alter(stage, [DELETION("alice", 1)]) == [("alice", 91)]


def test_zookeeper_brokers_deny_without_results() -> None:
    response = describe(Stage("2.7"), ["zed"], "User:alice")
    assert response.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert response.results == []


@pytest.mark.parametrize(
    ("deletions", "upsertions", "kraft", "zookeeper"),
    [
        ([], [upsertion("a", 1), upsertion("a", 2)], 92, 0),
        ([], [upsertion("a", 1), upsertion("a", 1)], 92, 92),
        ([DELETION("b", 1)], [upsertion("b", 1)], 92, 92),
        ([DELETION("b", 1)], [upsertion("b", 2)], 92, 0),
        ([DELETION("b", 1), DELETION("b", 2)], [], 92, 91),
        ([DELETION("a", 1)], [upsertion("a", 1)], 91, 92),
        ([DELETION("a", 1)], [upsertion("a", 2)], 91, 91),
        ([DELETION("a", 9)], [upsertion("a", 1)], 33, 33),
        ([], [upsertion("a", 1), upsertion("a", 2, 1)], 92, 93),
    ],
)
def test_several_alterations_of_one_user_are_rejected(
    deletions: Any, upsertions: Any, kraft: int, zookeeper: int
) -> None:
    """Recorded from 4.3.1 and 2.8.2; `b` has a credential for SCRAM-SHA-256 (1)."""
    for release, error in (("4.3", kraft), ("2.8", zookeeper)):
        stage = Stage(release)
        assert alter(stage, (), [upsertion("b", 1)]) == [("b", 0)]
        ((_, found),) = alter(stage, deletions, upsertions)
        assert found == error, release
