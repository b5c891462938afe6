"""Random requests about log-ins, passwords and delegation tokens."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kafka_shim.protocol.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from kafka_shim.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from kafka_shim.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from kafka_shim.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
)
from kafka_shim.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.recordings.conformance.draw import ANONYMOUS, USERS, Asked, Draw

HOUR_MS = 3_600_000
OWNERS_SINCE = 3
"""The first version that can create tokens for other users (KIP-373)."""


def _token_user(draw: Draw) -> None:
    """Choose a user who is logged in, as tokens require, or sometimes none."""
    if draw.chance(0.08):
        draw.user = ANONYMOUS


def sasl_handshake(draw: Draw, version: int) -> Asked:
    """Send SaslHandshake on a connection that is logged in already."""
    return Asked(SaslHandshakeRequest(mechanism=draw.pick("PLAIN", "NONSENSE")))


def sasl_authenticate(draw: Draw, version: int) -> Asked:
    return Asked(SaslAuthenticateRequest(auth_bytes=b"\0alice\0wrong"))


def create_delegation_token(draw: Draw, version: int) -> Asked:
    _token_user(draw)
    request = CreateDelegationTokenRequest(
        renewers=[
            CreatableRenewers(
                principal_type=draw.weighted({"User": 90, "Group": 10}),
                principal_name=draw.pick(*USERS),
            )
            for _ in range(draw.number(0, 2))
        ],
        max_lifetime_ms=draw.weighted({-1: 70, HOUR_MS: 25, 0: 5}),
    )
    if version >= OWNERS_SINCE and draw.chance(0.4):
        request.owner_principal_type = draw.weighted({"User": 90, "Group": 10})
        request.owner_principal_name = draw.pick(*USERS)
    return Asked(request)


def _hmac(draw: Draw) -> dict[str, str]:
    made = draw.earlier(ApiKey.CREATE_DELEGATION_TOKEN, share=0.85)
    _token_user(draw)
    return {} if made is None else {"hmac": f"{made.label}:hmac"}


def renew_delegation_token(draw: Draw, version: int) -> Asked:
    period = draw.weighted({-1: 50, HOUR_MS: 40, 0: 10})
    return Asked(RenewDelegationTokenRequest(hmac=b"none", renew_period_ms=period), _hmac(draw))


def expire_delegation_token(draw: Draw, version: int) -> Asked:
    period = draw.weighted({-1: 50, HOUR_MS: 50})
    request = ExpireDelegationTokenRequest(hmac=b"none", expiry_time_period_ms=period)
    return Asked(request, _hmac(draw))


def describe_delegation_token(draw: Draw, version: int) -> Asked:
    _token_user(draw)
    owners = [
        DescribeDelegationTokenOwner(principal_type="User", principal_name=draw.pick(*USERS))
        for _ in range(draw.number(0 if draw.chance(0.2) else 1, 2))
    ]
    return Asked(DescribeDelegationTokenRequest(owners=None if draw.chance(0.6) else owners))


def _scram_names(draw: Draw) -> list[str]:
    return draw.some([f"{draw.prefix}-user", f"{draw.prefix}-user2", f"{draw.prefix}-none"], 1, 2)


def describe_user_scram_credentials(draw: Draw, version: int) -> Asked:
    users = [UserName(name=name) for name in _scram_names(draw)]
    if draw.chance(0.06):
        users.append(UserName(name=""))
    if draw.chance(0.2):
        return Asked(DescribeUserScramCredentialsRequest(users=draw.pick(None, [])))
    return Asked(DescribeUserScramCredentialsRequest(users=users))


def alter_user_scram_credentials(draw: Draw, version: int) -> Asked:
    deletions = [
        ScramCredentialDeletion(name=name, mechanism=draw.weighted({1: 80, 2: 15, 9: 5}))
        for name in (_scram_names(draw) if draw.chance(0.4) else [])
    ]
    upsertions = [
        ScramCredentialUpsertion(
            name=name,
            mechanism=draw.weighted({1: 60, 2: 35, 9: 5}),
            iterations=draw.weighted({4096: 85, 10: 8, 100_000: 7}),
            salt=b"salt",
            salted_password=b"\x01" * 32,
        )
        for name in (_scram_names(draw) if draw.chance(0.8) else [])
    ]
    if upsertions and draw.chance(0.06):
        upsertions[0].name = ""
    return Asked(AlterUserScramCredentialsRequest(deletions=deletions, upsertions=upsertions))
