"""Client metrics (KIP-714): subscriptions, and the metrics that clients push.

Subscriptions are config resources (`client-metrics`). A broker keeps the clients that requested one
in memory, and drops them when a subscription changes.

DEVIATION: there are no metric reporters; a setting enables telemetry, and only the size of pushed
metrics is checked.
"""

import random
from collections import deque
from collections.abc import Mapping
from typing import Final, NoReturn
from uuid import UUID

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.checksum import crc32c
from kafka_shim.protocol.records.compression import (
    DECOMPRESSED_BYTES_MAX,
    Compression,
    MissingPackageError,
    decompress,
)
from kafka_shim.protocol.releases.telemetry import TelemetryFacts
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.state.settings.config_values import elements
from kafka_shim.shim.state.settings.configs import Configs
from kafka_shim.shim.state.settings.metrics_patterns import patterns_of

NO_ID: Final = bytes(16)
EVERYTHING: Final = "*"
INSTANCES_MAX: Final = 16_384
IDLE_MS_MAX: Final = 60_000
INTERVALS_KEPT: Final = 3
"""Number of its intervals for which a client is remembered; at least IDLE_MS_MAX."""
PUSHES_KEPT: Final = 1000
MAY_ASK_AGAIN: Final = frozenset(
    {ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE}
)
"""After these errors a client asks for its subscription immediately."""


class Client(msgspec.Struct, frozen=True):
    """A client; all fields but the first can be used in `match` of a subscription."""

    principal: str
    client_instance_id: str
    client_id: str
    client_software_name: str
    client_software_version: str
    client_source_address: str
    client_source_port: str


class Subscription(msgspec.Struct, frozen=True):
    """The subscription of one client: prefixes of metric names."""

    subscription_id: int
    interval_ms: int
    metrics: tuple[str, ...]


class Push(msgspec.Struct, frozen=True):
    """Received metrics: their compressed and decompressed sizes.

    `bytes_decompressed` is None if the release does not decompress them, or the package for the
    compression is missing.
    """

    client: Client
    is_terminating: bool
    compression: Compression
    bytes_sent: int
    bytes_decompressed: int | None


class Pushed(msgspec.Struct, frozen=True):
    """A push as received; its compression may be unknown."""

    client: Client
    is_terminating: bool
    compression: int
    metrics: bytes


class _Instance:
    """The state of one client; times are those of the last accepted request."""

    def __init__(self, subscription: Subscription) -> None:
        self.subscription = subscription
        self.used_ms = -1
        self.got_ms = -1
        self.pushed_ms = -1
        self.last_error = ErrorCode.NONE
        self.is_terminating = False

    def is_forgotten(self, now_ms: int) -> bool:
        """Return whether it has been idle for long."""
        longest_ms = max(IDLE_MS_MAX, INTERVALS_KEPT * self.subscription.interval_ms)
        return now_ms - self.used_ms >= longest_ms

    def may_get(self, now_ms: int) -> bool:
        last_ms = max(self.got_ms, self.pushed_ms)
        if last_ms < 0 or now_ms - last_ms >= self.subscription.interval_ms:
            self.got_ms = now_ms
            return True
        return False

    def may_push(self, now_ms: int) -> bool:
        """Return whether a push is allowed: once per interval, and at any
        time after a new request.
        """
        waited = self.pushed_ms < 0 or now_ms - self.pushed_ms >= self.subscription.interval_ms
        if waited or self.got_ms > self.pushed_ms:
            self.pushed_ms = now_ms
            return True
        return False


class Telemetry:
    """The metrics of one broker's clients."""

    def __init__(
        self,
        configs: Configs,
        facts: TelemetryFacts,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self._configs = configs
        self._facts = facts
        self._clock = clock
        self._random = rng
        self._instances: dict[bytes, _Instance] = {}
        self._seen: dict[str, dict[str, str]] = {}
        self.pushes: deque[Push] = deque(maxlen=PUSHES_KEPT)

    @property
    def bytes_max(self) -> int:
        """Maximum size of a push, both compressed and decompressed."""
        return self._configs.broker_int("telemetry.max.bytes")

    def new_instance_id(self) -> bytes:
        return UUID(bytes=self._random.randbytes(16), version=4).bytes

    def subscription(self, instance_id: bytes, client: Client) -> Subscription:
        """Return the client's subscription; raise RequestRejected before the interval is over."""
        instance = self._instance(instance_id, client)
        may_again = (
            self._facts.outdated_subscription_allows_immediate_get
            and instance.last_error in MAY_ASK_AGAIN
        )
        if not (instance.may_get(self._clock.now_ms()) or may_again):
            raise RequestRejected(
                ErrorCode.THROTTLING_QUOTA_EXCEEDED,
                "the client asked again before its interval was over",
            )
        instance.last_error = ErrorCode.NONE
        return instance.subscription

    def push(self, instance_id: bytes, subscription_id: int, pushed: Pushed) -> None:
        """Receive metrics; raise RequestRejected with the error."""
        instance = self._instance(instance_id, pushed.client)
        was_terminating, instance.is_terminating = instance.is_terminating, pushed.is_terminating
        try:
            if was_terminating:
                _error_response(
                    ErrorCode.INVALID_REQUEST, "the client has announced that it is closing"
                )
            if not (instance.may_push(self._clock.now_ms()) or pushed.is_terminating):
                _error_response(
                    ErrorCode.THROTTLING_QUOTA_EXCEEDED,
                    "the client pushed again before its interval was over",
                )
            self._check(instance.subscription, subscription_id, pushed)
            if pushed.metrics:
                self.pushes.append(self._came(pushed))
        except RequestRejected as refused:
            instance.last_error = refused.error
            raise
        instance.last_error = ErrorCode.NONE

    def _check(self, wanted: Subscription, subscription_id: int, pushed: Pushed) -> None:
        if subscription_id != wanted.subscription_id:
            text = f"subscription {subscription_id} is not {wanted.subscription_id}"
            _error_response(ErrorCode.UNKNOWN_SUBSCRIPTION_ID, text)
        if pushed.compression not in list(Compression):
            text = f"unknown compression {pushed.compression}"
            _error_response(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, text)
        if len(pushed.metrics) > self.bytes_max:
            text = f"{len(pushed.metrics)} bytes are above the limit of {self.bytes_max}"
            _error_response(ErrorCode.TELEMETRY_TOO_LARGE, text)

    def _came(self, pushed: Pushed) -> Push:
        compression = Compression(pushed.compression)
        size: int | None = None
        limits = self._facts.push_limit_counts_decompressed_bytes
        bytes_max = self.bytes_max if limits else DECOMPRESSED_BYTES_MAX
        try:
            if self._facts.pushed_metrics_are_decompressed:
                size = len(decompress(compression, pushed.metrics, bytes_max))
        except MissingPackageError:
            pass  # it may be right
        except DecodeError as error:
            raise RequestRejected(ErrorCode.INVALID_RECORD, str(error)) from error
        return Push(pushed.client, pushed.is_terminating, compression, len(pushed.metrics), size)

    def _instance(self, instance_id: bytes, client: Client) -> _Instance:
        if self._configs.client_metrics != self._seen:
            self._seen = {name: dict(own) for name, own in self._configs.client_metrics.items()}
            self._instances.clear()
        now_ms = self._clock.now_ms()
        found = self._instances.pop(instance_id, None)
        if found is None or found.is_forgotten(now_ms):
            found = _Instance(self._subscription_of(instance_id, client))
            while len(self._instances) >= INSTANCES_MAX:
                del self._instances[next(iter(self._instances))]
        found.used_ms = now_ms
        self._instances[instance_id] = found  # the most recently used is last
        return found

    def _subscription_of(self, instance_id: bytes, client: Client) -> Subscription:
        """Merge all matching subscriptions: the shortest interval, the metrics of all."""
        interval_ms = self._interval_ms({})
        names: set[str] = set()
        for own in self._seen.values():
            if self._is_for(own, client):
                interval_ms = min(interval_ms, self._interval_ms(own))
                names.update(elements(own.get("metrics", "")))
        metrics = (EVERYTHING,) if EVERYTHING in names else tuple(sorted(names))
        text = f"[{', '.join(metrics)}]{interval_ms}"
        number = crc32c(text.encode()) ^ _hash(instance_id)
        return Subscription(_signed(number), interval_ms, metrics)

    def _is_for(self, own: Mapping[str, str], client: Client) -> bool:
        patterns = patterns_of(own["match"], self._facts) if "match" in own else {}
        return all(pattern.fullmatch(getattr(client, field)) for field, pattern in patterns.items())

    def _interval_ms(self, own: dict[str, str]) -> int:
        default = self._configs.client_metrics_definitions["interval.ms"].default
        return int(own.get("interval.ms", default or 0))


def _error_response(error: ErrorCode, text: str) -> NoReturn:
    raise RequestRejected(error, text)


def _hash(uuid: bytes) -> int:
    """Return a UUID folded to 32 bits, so that each client has its own subscription id."""
    halves = int.from_bytes(uuid[:8], "big") ^ int.from_bytes(uuid[8:], "big")
    return (halves ^ halves >> 32) & 0xFFFFFFFF


def _signed(number: int) -> int:
    return number - (1 << 32) if number >> 31 else number
