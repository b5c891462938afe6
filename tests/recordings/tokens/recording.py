"""Records the expiry of delegation tokens with the longest possible lifetime."""

from pathlib import Path
from typing import Any, Final

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
)
from kafka_shim.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
)
from kafka_shim.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from tests.recordings.peers.peer import Peer, ask, versions
from tests.recordings.recorder import Kind
from tests.recordings.store import Recordings, Steps

OWNER: Final = "alice"
LONGEST: Final = 2**63 - 1
LONG: Final = 2**62
KNOWN_MS: Final = 3_000
"""A little more than the time in which a busy broker applies a new token."""
CHANGED_MS: Final = 500

SETTINGS: Final = {
    "unlimited": {
        "delegation.token.max.lifetime.ms": str(LONGEST),
        "delegation.token.expiry.time.ms": str(LONGEST),
    },
    "renewed": {"delegation.token.max.lifetime.ms": str(LONGEST)},
    "limited": {},
}


def scenarios(release: str) -> list[str]:
    has_tokens = bool(versions(release, ApiKey.CREATE_DELEGATION_TOKEN))
    return list(SETTINGS) if has_tokens else []


def played(name: str, peer: Peer) -> Steps:
    """Return the error codes, and the expiry of tokens."""
    steps: Steps = []
    for label, lifetime_ms in {"longest": LONGEST, "long": LONG, "default": -1}.items():
        made = _ask(
            peer,
            ApiKey.CREATE_DELEGATION_TOKEN,
            CreateDelegationTokenRequest(max_lifetime_ms=lifetime_ms),
        )
        ends = [_kept(made.expiry_timestamp_ms), _kept(made.max_timestamp_ms)]
        steps.append((f"{label}: created", [made.error_code, *ends]))
        if made.error_code:
            continue
        peer.pause(KNOWN_MS)
        for period, period_ms in {"longest": LONGEST, "long": LONG, "default": -1}.items():
            request = RenewDelegationTokenRequest(hmac=made.hmac, renew_period_ms=period_ms)
            steps.append((f"{label}: renewed {period}", _end(peer, request)))
        for period, period_ms in {"longest": LONGEST, "long": LONG, "now": -1}.items():
            expiring = ExpireDelegationTokenRequest(hmac=made.hmac, expiry_time_period_ms=period_ms)
            steps.append((f"{label}: expires {period}", _end(peer, expiring)))
    return steps


def _end(peer: Peer, request: Any) -> list[Any]:
    renews = isinstance(request, RenewDelegationTokenRequest)
    api = ApiKey.RENEW_DELEGATION_TOKEN if renews else ApiKey.EXPIRE_DELEGATION_TOKEN
    response = _ask(peer, api, request)
    return [response.error_code, _kept(response.expiry_timestamp_ms)]


def _ask(peer: Peer, api: ApiKey, request: Any) -> Any:
    peer.pause(CHANGED_MS)
    return ask(peer, OWNER, api, versions(peer.release, api)[-1], request)


def _kept(end_ms: int) -> str:
    """Return a description of the expiry that does not depend on the clock."""
    if end_ms < 0:
        return f"{end_ms}" if end_ms == -1 else "wrapped"
    return "largest" if end_ms == LONGEST else "late" if end_ms > LONG else "a time"


KIND = Kind(
    Recordings(Path(__file__).parent / "recorded", ".json"),
    scenarios,
    played,
    own_settings=SETTINGS,
    mode="authorizer",
)
