"""Kafka's published vulnerabilities; docs/explanation/security.md has a row for each."""

import contextlib
import hmac
import socket
import tracemalloc
from typing import Any

import pytest

from kafka_shim.authorizer.model import AclFilter, Action, Actor
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
)
from kafka_shim.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.shim.config import Limits
from kafka_shim.shim.errors import CloseConnection, ConfigError
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.sasl.bearer_settings import build_token_validator
from kafka_shim.shim.sasl.bearer_token import TokenRejectedError
from kafka_shim.shim.sasl.mechanism import SaslFailure
from kafka_shim.shim.sasl.plain import PlainExchange
from tests.recordings.records.batches import TRANSACTIONAL, batch
from tests.shim.handlers.records import ALICE, produced
from tests.shim.play import SASL_LISTENER, Stage
from tests.shim.sasl.bearer_cases import LENIENT, RSA, signed


def test_plain_refuses_another_authorization_id() -> None:
    """CVE-2017-12610."""
    exchange = PlainExchange({"alice": "alice-secret"})
    with pytest.raises(SaslFailure, match="authorization id differs"):
        exchange.respond(b"admin\0alice\0alice-secret")


@pytest.mark.parametrize(("release", "code"), [("0.11", 0), ("2.0", 0), ("2.1", 53), ("", 53)])
def test_a_transactional_batch_before_another_is_checked_since_2_1(release: str, code: int) -> None:
    """CVE-2018-17196: up to 2.0 only the last partition decided which permission is checked."""
    stage = Stage(release)
    for topic in ("first", "last"):
        stage.topic(topic)
        stage.allow(ALICE, Operation.WRITE, ResourceType.TOPIC, topic)
    rows = [
        TopicProduceData(name=name, partition_data=[PartitionProduceData(0, records)])
        for name, records in (
            ("first", batch(producer=(5, 0, 0), attributes=TRANSACTIONAL)),
            ("last", batch()),
        )
    ]
    request = ProduceRequest(transactional_id="not-hers", acks=-1, topic_data=rows)
    response = stage.ask(ApiKey.PRODUCE, 3, request, ALICE)
    refused = {name for name, error in produced(response).items() if error == 53}
    assert bool(refused) == bool(code)


def test_passwords_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """CVE-2021-38153."""
    compared: list[tuple[bytes, bytes]] = []

    def compare_digest(expected: bytes, given: bytes) -> bool:
        compared.append((expected, given))
        return expected == given

    monkeypatch.setattr(hmac, "compare_digest", compare_digest)
    for message in (b"\0alice\0wrong", b"\0nobody\0wrong"):
        with pytest.raises(SaslFailure):
            PlainExchange({"alice": "alice-secret"}).respond(message)
    assert compared == [(b"alice-secret", b"wrong"), (b"", b"wrong")]


def test_tags_before_a_log_in_take_little_memory() -> None:
    """CVE-2022-34917 and CVE-2026-111115: a huge claimed number of tags, or really many tags."""
    stage = Stage()
    session = Session(SASL_LISTENER, 1, "127.0.0.1", 50_000)
    header = write_request_header(RequestHeader(ApiKey.API_VERSIONS, 3, 1, ""))[:-1]
    claim = b"\xff\xff\xff\x7f"  # 268 million tags
    room = (Limits().unauthenticated_frame_bytes_max - len(header) - 3) // 2
    many = bytes([room & 127 | 128, room >> 7 & 127 | 128, room >> 14]) + b"\0\0" * room
    for tags in (claim, claim + b"\0" * 1000, many):
        tracemalloc.start()
        with contextlib.suppress(CloseConnection, ProtocolError):
            stage.dispatcher.dispatch(header + tags, session)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 64 * 1024 * 1024


def test_the_other_acls_of_a_resource_apply_after_one_was_removed() -> None:
    """CVE-2024-27309."""
    stage = Stage()
    for user in ("alice", "bob", "carol"):
        stage.allow(f"User:{user}", Operation.READ, ResourceType.TOPIC, "orders")
    stage.allow("User:dave", Operation.ALL, ResourceType.TOPIC, "orders", deny=True)
    authorizer = stage.cluster.policy.authorizer
    assert authorizer is not None
    authorizer.delete_acls(Actor("User:admin", "127.0.0.1"), [AclFilter(principal="User:bob")])
    action = Action(Operation.READ, ResourceType.TOPIC, "orders")
    decided = {
        user: authorizer.authorize(Actor(f"User:{user}", "127.0.0.1"), action).allowed
        for user in ("alice", "bob", "carol", "dave")
    }
    assert decided == {"alice": True, "bob": False, "carol": True, "dave": False}


@pytest.mark.parametrize("release", ["2.3", "3.3", "3.9", "4.0", ""])
@pytest.mark.parametrize("module", ["JndiLoginModule", "LdapLoginModule"])
def test_a_login_module_in_a_setting_is_stored_as_text(
    release: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CVE-2023-25194, CVE-2025-27818 and CVE-2025-27819: no lookup and no connection is made."""

    def error_response(*_: Any) -> None:
        raise AssertionError("a setting opened a connection")

    monkeypatch.setattr(socket.socket, "connect", error_response)
    monkeypatch.setattr(socket, "getaddrinfo", error_response)
    value = (
        f'com.sun.security.auth.module.{module} required user.provider.url="ldap://127.0.0.1/x";'
    )
    name = "listener.name.sasl_plaintext.plain.sasl.jaas.config"
    row = AlterConfigsResource(4, "1", [AlterableConfig(name, 0, value)])
    stage = Stage(release)
    stage.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 0, IncrementalAlterConfigsRequest(resources=[row]))
    assert stage.cluster.counters.internal_errors == 0


@pytest.mark.parametrize("url", ["http://127.0.0.1/keys", "https://127.0.0.1/keys", "ftp://x/y"])
def test_keys_are_never_fetched(url: str) -> None:
    """CVE-2025-27817."""
    with pytest.raises(ConfigError, match="keys are read from files only"):
        build_token_validator(
            {"sasl.oauthbearer.jwks.endpoint.url": url}, "SASL_PLAINTEXT", LENIENT
        )


def test_the_content_of_a_file_without_keys_is_not_in_the_error(tmp_path: Any) -> None:
    """CVE-2025-27817: the error names the file, but shows nothing of its content."""
    secret = tmp_path / "passwords"
    secret.write_text("root:hunter2\n")
    with pytest.raises(ConfigError) as caught:
        build_token_validator(
            {"sasl.oauthbearer.jwks.endpoint.url": secret.as_uri()}, "SASL_PLAINTEXT", LENIENT
        )
    assert "hunter2" not in str(caught.value)


def test_without_keys_a_signed_token_is_rejected() -> None:
    """CVE-2026-33557 and CVE-2026-110985."""
    now = 1_700_000_000
    token = signed({"sub": "admin", "iat": now, "exp": now + 60}, RSA)
    with pytest.raises(TokenRejectedError, match="not an unsecured JSON web token"):
        build_token_validator({}, "SASL_PLAINTEXT", LENIENT).validate(token, now * 1000)


def test_describing_a_consumer_group_needs_describe() -> None:
    """CVE-2026-41115: the documentation said READ, but brokers check DESCRIBE."""
    stage = Stage()
    asked = ConsumerGroupDescribeRequest(group_ids=["g"])
    api = ApiKey.CONSUMER_GROUP_DESCRIBE
    assert stage.ask(api, 0, asked, ALICE).groups[0].error_code == 30
    stage.allow(ALICE, Operation.DESCRIBE, ResourceType.GROUP, "g")
    assert stage.ask(api, 0, asked, ALICE).groups[0].error_code != 30


@pytest.mark.parametrize("release", RELEASES)
def test_apis_of_the_quorum_are_not_served(release: str) -> None:
    """CVE-2026-83525."""
    apis = Stage(release).dispatcher.apis
    assert apis.find_api(ApiKey.FETCH_SNAPSHOT, 0) is None
    assert apis.find_api(ApiKey.ENVELOPE, 0) is None
