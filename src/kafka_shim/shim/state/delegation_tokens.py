"""Delegation tokens (KIP-48, KIP-373): owners, renewers and expiry."""

import base64
import random
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.users import UserFacts
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.errors import RequestRejected

HOUR_MS = 3_600_000
DAY_MS = 86_400_000
_LONGEST = 2**63 - 1


def wrap_to_int64(number: int) -> int:
    """Return a sum as Java's `long` has it after an overflow."""
    return (number + 2**63) % 2**64 - 2**63


class DelegationToken(msgspec.Struct):
    """One token; principals are `Type:name`, times in milliseconds since the epoch."""

    token_id: str
    hmac: bytes
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issued_ms: int
    max_ms: int
    expires_ms: int

    @property
    def password(self) -> str:
        """The password for SCRAM: the HMAC in base64."""
        return base64.b64encode(self.hmac).decode()

    def is_visible_to(self, principal: str) -> bool:
        """Return whether this principal is the token's owner, requester
        or renewer, and may see it.
        """
        return principal in (self.owner, self.requester, *self.renewers)


class DelegationTokens:
    """All tokens by id; without `secret` they are disabled: DELEGATION_TOKEN_AUTH_DISABLED (61)."""

    def __init__(
        self,
        settings: Mapping[str, str],
        rng: random.Random,
        clock: Clock,
        *,
        facts: UserFacts,
    ) -> None:
        secret = settings.get("delegation.token.secret.key")
        secret = settings.get("delegation.token.master.key") if secret is None else secret
        # enabled by default, unlike a real broker, so that tests need not set a secret
        self._secret = rng.randbytes(32) if secret is None else secret.encode()
        self._max_lifetime_ms = int(
            settings.get("delegation.token.max.lifetime.ms", str(7 * DAY_MS))
        )
        self._renewal_ms = int(settings.get("delegation.token.expiry.time.ms", str(DAY_MS)))
        self._facts = facts
        self._random = rng
        self._clock = clock
        interval = settings.get("delegation.token.expiry.check.interval.ms", str(HOUR_MS))
        self._check_interval_ms = int(interval)
        self._next_check_ms = clock.now_ms() + self._check_interval_ms
        self._by_id: dict[str, DelegationToken] = {}
        self._by_hmac: dict[bytes, DelegationToken] = {}
        self.when_changed: Callable[[str], None] = lambda _: None
        """Called with the id of a token that was stored, changed or removed."""

    def __iter__(self) -> Iterator[DelegationToken]:
        self._remove_expired_at_interval()
        return iter(list(self._by_id.values()))

    def require_enabled(self) -> None:
        if not self._secret:
            raise RequestRejected(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)

    def create_token(
        self, owner: str, requester: str, renewers: Iterable[str], max_lifetime_ms: int
    ) -> DelegationToken:
        """Create a token; a lifetime of 0 or less means the maximum."""
        self.require_enabled()
        self._remove_expired_at_interval()
        now_ms = self._clock.now_ms()
        lifetime_ms = self._max_lifetime_ms
        if max_lifetime_ms > 0:
            lifetime_ms = min(lifetime_ms, max_lifetime_ms)
        max_ms = self._time_after(lifetime_ms)
        import hmac  # noqa: PLC0415 - few brokers have tokens

        token_id = base64.urlsafe_b64encode(self._random.randbytes(16)).decode().rstrip("=")
        token = DelegationToken(
            token_id=token_id,
            hmac=hmac.digest(self._secret, token_id.encode(), "sha512"),
            owner=owner,
            requester=requester,
            renewers=tuple(renewers),
            issued_ms=now_ms,
            max_ms=max_ms,
            expires_ms=min(max_ms, self._time_after(self._renewal_ms)),
        )
        self.store_token(token)
        return token

    def store_token(self, token: DelegationToken) -> None:
        """Store a token."""
        self._by_id[token.token_id] = self._by_hmac[token.hmac] = token
        self.when_changed(token.token_id)

    def find_even_expired(self, token_id: str) -> DelegationToken | None:
        """Return a token that is not removed yet; None if there is none."""
        return self._by_id.get(token_id)

    def find_unexpired(self, token_id: str) -> DelegationToken | None:
        """Return the token for an authentication; None if it does not exist or has expired."""
        token = self._by_id.get(token_id)
        return None if token is None or self._is_expired(token) else token

    def renew_token(self, token_hmac: bytes, principal: str, period_ms: int) -> int:
        """Return the new expiry; raise RequestRejected with 61, 62, 63 or 66."""
        token = self._require_token(token_hmac)
        if self._facts.renew_token_checks_owner_before_expiry:
            self._require_renewal_right(token, principal)
        self._require_unexpired(token)
        self._require_renewal_right(token, principal)
        if period_ms < 0 or (
            self._facts.token_renewal_is_capped_by_default_period
            and not 0 < period_ms < self._renewal_ms
        ):
            period_ms = self._renewal_ms
        # this sum overflows in every release
        token.expires_ms = min(token.max_ms, wrap_to_int64(self._clock.now_ms() + period_ms))
        self.when_changed(token.token_id)
        return token.expires_ms

    def set_token_expiry(self, token_hmac: bytes, principal: str, period_ms: int) -> int:
        """Return the new expiry, immediately for a negative period.

        Raise RequestRejected as `renew` does.
        """
        token = self._require_token(token_hmac)
        if self._facts.expire_token_checks_owner_before_expiry:
            self._require_renewal_right(token, principal)
        ends = period_ms < 0
        if not (ends and self._facts.expire_token_removes_expired_tokens):
            self._require_unexpired(token)
        self._require_renewal_right(token, principal)
        if ends:
            self._remove_token(token)
            return (
                period_ms
                if self._facts.removed_token_returns_requested_period
                else self._clock.now_ms()
            )
        token.expires_ms = min(token.max_ms, self._time_after(period_ms))
        self.when_changed(token.token_id)
        return token.expires_ms

    def _time_after(self, period_ms: int) -> int:
        """Return the time after a period, as the release computes what no long can hold."""
        end_ms = self._clock.now_ms() + period_ms
        return (
            min(end_ms, _LONGEST)
            if self._facts.token_expiry_never_overflows
            else wrap_to_int64(end_ms)
        )

    def _require_token(self, token_hmac: bytes) -> DelegationToken:
        self.require_enabled()
        self._remove_expired_at_interval()
        token = self._by_hmac.get(token_hmac)
        if token is None:
            raise RequestRejected(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)
        return token

    def _remove_token(self, token: DelegationToken) -> None:
        del self._by_id[token.token_id]
        del self._by_hmac[token.hmac]
        self.when_changed(token.token_id)

    def _require_unexpired(self, token: DelegationToken) -> None:
        if self._is_expired(token):
            raise RequestRejected(ErrorCode.DELEGATION_TOKEN_EXPIRED)

    def _require_renewal_right(self, token: DelegationToken, principal: str) -> None:
        """Raise DELEGATION_TOKEN_OWNER_MISMATCH unless it is the owner or a renewer (KIP-373)."""
        if principal not in {token.owner, *token.renewers}:
            raise RequestRejected(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)

    def _remove_expired_at_interval(self) -> None:
        """Remove expired tokens at the brokers' check interval, until which they are kept."""
        now_ms = self._clock.now_ms()
        if now_ms < self._next_check_ms:
            return
        late_ms = (now_ms - self._next_check_ms) % self._check_interval_ms
        self._next_check_ms = now_ms - late_ms + self._check_interval_ms
        for token in list(self._by_id.values()):
            if self._is_expired(token):
                self._remove_token(token)

    def _is_expired(self, token: DelegationToken) -> bool:
        """Return whether the time is over; brokers compare with `<`, which later requests cannot
        notice.
        """
        now_ms = self._clock.now_ms()
        return token.expires_ms <= now_ms or token.max_ms <= now_ms
