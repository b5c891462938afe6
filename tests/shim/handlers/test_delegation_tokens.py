"""Delegation tokens (KIP-48, KIP-373): owners, renewers, permissions, lifetimes and errors."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from kafka_shim.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from kafka_shim.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
)
from kafka_shim.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.state.delegation_tokens import DAY_MS, HOUR_MS
from tests.shim.play import SASL_LISTENER, Stage

ALICE, BOB, CAROL = "User:alice", "User:bob", "User:carol"


@pytest.fixture
def stage() -> Stage:
    return staged("")


def staged(release: str) -> Stage:
    stage = Stage(release)
    for number, principal in enumerate((ALICE, BOB, CAROL)):
        session = Session(SASL_LISTENER, 1, "127.0.0.1", 60_000 + number)
        session.principal = principal
        session.phase = session.phase.READY
        stage.sessions[principal] = session
    return stage


def create(stage: Stage, who: str = ALICE, **fields: Any) -> Any:
    fields.setdefault("max_lifetime_ms", -1)
    request = CreateDelegationTokenRequest(**fields)
    return stage.ask(ApiKey.CREATE_DELEGATION_TOKEN, 3, request, who)


def visible(stage: Stage, who: str, owners: Any = None) -> list[str]:
    request = DescribeDelegationTokenRequest(owners=owners)
    response = stage.ask(ApiKey.DESCRIBE_DELEGATION_TOKEN, 3, request, who)
    assert response.error_code == ErrorCode.NONE
    return [token.token_id for token in response.tokens]


def renew(stage: Stage, who: str, hmac: bytes, period_ms: int = -1) -> Any:
    request = RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=period_ms)
    return stage.ask(ApiKey.RENEW_DELEGATION_TOKEN, 2, request, who)


def expire(stage: Stage, who: str, hmac: bytes, period_ms: int = -1) -> Any:
    request = ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=period_ms)
    return stage.ask(ApiKey.EXPIRE_DELEGATION_TOKEN, 2, request, who)


def test_a_token_for_oneself_needs_no_acl(stage: Stage) -> None:
    token = create(stage)
    assert token.error_code == ErrorCode.NONE
    assert (token.principal_name, token.token_requester_principal_name) == ("alice", "alice")
    assert token.expiry_timestamp_ms - token.issue_timestamp_ms == DAY_MS
    assert token.max_timestamp_ms - token.issue_timestamp_ms == 7 * DAY_MS
    assert len(token.hmac) == 64


def test_expired_tokens_are_deleted_within_an_hour(stage: Stage) -> None:
    """Brokers of 2.8.2 and 4.3.1 look for expired tokens once an hour."""
    old = create(stage, max_lifetime_ms=1000)
    new = create(stage)
    stage.clock.advance(HOUR_MS - 1)
    assert renew(stage, ALICE, old.hmac).error_code == ErrorCode.DELEGATION_TOKEN_EXPIRED
    assert visible(stage, ALICE) == [old.token_id, new.token_id]
    stage.clock.advance(1)
    assert renew(stage, ALICE, old.hmac).error_code == ErrorCode.DELEGATION_TOKEN_NOT_FOUND
    assert visible(stage, ALICE) == [new.token_id]


def test_a_token_for_another_needs_create_tokens_on_that_user(stage: Stage) -> None:
    other = {"owner_principal_type": "User", "owner_principal_name": "bob"}
    denied = create(stage, **other)
    assert denied.error_code == ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    assert (denied.principal_name, denied.token_requester_principal_name) == ("bob", "alice")
    assert (denied.issue_timestamp_ms, denied.token_id) == (-1, "")
    stage.allow(ALICE, Operation.CREATE_TOKENS, ResourceType.USER, BOB)
    assert create(stage, **other).error_code == ErrorCode.NONE


def test_without_a_login_the_request_is_not_allowed_whatever_it_contains(stage: Stage) -> None:
    anonymous = create(stage, "User:dave", renewers=[CreatableRenewers("Group", "x")])
    assert anonymous.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


def test_a_session_that_used_a_token_cannot_create_another(stage: Stage) -> None:
    stage.session(ALICE).token_id = "some"
    assert create(stage).error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


def test_renewers_must_be_users(stage: Stage) -> None:
    response = create(stage, renewers=[CreatableRenewers("Group", "bob")])
    assert response.error_code == ErrorCode.INVALID_PRINCIPAL_TYPE


def test_without_a_secret_key_tokens_are_disabled() -> None:
    stage = Stage(properties={"delegation.token.secret.key": ""})
    session = Session(SASL_LISTENER, 1, "127.0.0.1", 60_000)
    session.principal, session.phase = ALICE, session.phase.READY
    stage.sessions[ALICE] = session
    assert create(stage).error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED


def test_describing_tokens_of_others_needs_describe_on_the_token(stage: Stage) -> None:
    token_id = create(stage, renewers=[CreatableRenewers("User", "bob")]).token_id
    assert visible(stage, ALICE) == [token_id]
    assert visible(stage, BOB) == [token_id]
    assert visible(stage, CAROL) == []
    assert visible(stage, BOB, []) == []
    owner = [DescribeDelegationTokenOwner("User", "alice")]
    assert visible(stage, CAROL, owner) == []
    stage.allow(CAROL, Operation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token_id)
    assert visible(stage, CAROL, owner) == [token_id]


def test_describe_tokens_on_the_owner_shows_its_tokens(stage: Stage) -> None:
    token_id = create(stage).token_id
    stage.allow(CAROL, Operation.DESCRIBE_TOKENS, ResourceType.USER, ALICE)
    assert visible(stage, CAROL) == [token_id]


def test_only_owner_and_renewers_renew_and_expire(stage: Stage) -> None:
    token = create(stage, renewers=[CreatableRenewers("User", "bob")])
    mismatch = ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    assert renew(stage, CAROL, token.hmac).error_code == mismatch
    assert expire(stage, CAROL, token.hmac).error_code == mismatch
    assert renew(stage, BOB, token.hmac, 1000).expiry_timestamp_ms == stage.clock.now_ms() + 1000
    assert renew(stage, ALICE, b"none").error_code == ErrorCode.DELEGATION_TOKEN_NOT_FOUND
    stage.clock.advance(1001)
    assert renew(stage, ALICE, token.hmac).error_code == ErrorCode.DELEGATION_TOKEN_EXPIRED
    assert expire(stage, ALICE, token.hmac).error_code == ErrorCode.NONE
    assert visible(stage, ALICE) == []


def test_a_renewal_never_exceeds_the_maximum_lifetime(stage: Stage) -> None:
    token = create(stage, max_lifetime_ms=5_000)
    assert token.expiry_timestamp_ms == token.max_timestamp_ms
    assert renew(stage, ALICE, token.hmac, 10**12).expiry_timestamp_ms == token.max_timestamp_ms


@pytest.mark.parametrize(
    ("release", "longest_ms", "zero_ms"), [("4.3", DAY_MS, DAY_MS), ("2.8", 2 * DAY_MS, 0)]
)
def test_kraft_controllers_renew_for_at_most_the_default_time(
    release: str, longest_ms: int, zero_ms: int
) -> None:
    """Recorded from 4.3.1 and 2.8.2."""
    stage = staged(release)
    made = CreateDelegationTokenRequest(max_lifetime_ms=-1)
    hmac = stage.ask(ApiKey.CREATE_DELEGATION_TOKEN, 1, made, ALICE).hmac
    for asked_ms, given_ms in ((2 * DAY_MS, longest_ms), (1000, 1000), (0, zero_ms)):
        request = RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=asked_ms)
        response = stage.ask(ApiKey.RENEW_DELEGATION_TOKEN, 1, request, ALICE)
        assert response.expiry_timestamp_ms - stage.clock.now_ms() == given_ms
