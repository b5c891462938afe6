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
from kafka_shim.protocol.records.batches import crc32c
from kafka_shim.protocol.records.compression import (
    DECOMPRESSED_BYTES_MAX,
    Compression,
    MissingPackageError,
    decompress,
)
from kafka_shim.protocol.releases.telemetry import TelemetryFacts
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.state.settings.config_values import list_elements
from kafka_shim.shim.state.settings.configs import Configs
from kafka_shim.shim.state.settings.metrics_patterns import parse_match_patterns

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


class TelemetryClient(msgspec.Struct, frozen=True):
    """A client; all fields but the first can be used in `match` of a subscription."""

    principal: str
    client_instance_id: str
    client_id: str
    client_software_name: str
    client_software_version: str
    client_source_address: str
    client_source_port: str


class ClientSubscription(msgspec.Struct, frozen=True):
    """The subscription of one client: prefixes of metric names."""

    subscription_id: int
    interval_ms: int
    metrics: tuple[str, ...]


class AcceptedPush(msgspec.Struct, frozen=True):
    """Received metrics: their compressed and decompressed sizes.

    `bytes_decompressed` is None if the release does not decompress them, or the package for the
    compression is missing.
    """

    client: TelemetryClient
    is_terminating: bool
    compression: Compression
    bytes_sent: int
    bytes_decompressed: int | None


class ReceivedPush(msgspec.Struct, frozen=True):
    """A push as received; its compression may be unknown."""

    client: TelemetryClient
    is_terminating: bool
    compression: int
    metrics: bytes


class _ClientInstance:
    """The state of one client; times are those of the last accepted request."""

    def __init__(self, subscription: ClientSubscription) -> None:
        self.subscription = subscription
        self.used_ms = -1
        self.got_ms = -1
        self.pushed_ms = -1
        self.last_error = ErrorCode.NONE
        self.is_terminating = False

    def is_idle_for_long(self, now_ms: int) -> bool:
        """Return whether it has been idle for long."""
        longest_ms = max(IDLE_MS_MAX, INTERVALS_KEPT * self.subscription.interval_ms)
        return now_ms - self.used_ms >= longest_ms

    def admit_subscription_request(self, now_ms: int) -> bool:
        """Record a request for the subscription; return False if it comes too early."""
        last_ms = max(self.got_ms, self.pushed_ms)
        if last_ms < 0 or now_ms - last_ms >= self.subscription.interval_ms:
            self.got_ms = now_ms
            return True
        return False

    def admit_push(self, now_ms: int) -> bool:
        """Record a push; return False if it comes too early.

        One is allowed per interval, and one after each request for the subscription.
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
        self._instances: dict[bytes, _ClientInstance] = {}
        self._seen: dict[str, dict[str, str]] = {}
        self.pushes: deque[AcceptedPush] = deque(maxlen=PUSHES_KEPT)

    @property
    def push_bytes_max(self) -> int:
        """Maximum size of a push, both compressed and decompressed."""
        return self._configs.effective_broker_int("telemetry.max.bytes")

    def new_instance_id(self) -> bytes:
        return UUID(bytes=self._random.randbytes(16), version=4).bytes

    def get_subscription(self, instance_id: bytes, client: TelemetryClient) -> ClientSubscription:
        """Return the client's subscription; raise RequestRejected before the interval is over."""
        instance = self._get_or_create_instance(instance_id, client)
        may_again = (
            self._facts.outdated_subscription_allows_immediate_get
            and instance.last_error in MAY_ASK_AGAIN
        )
        if not (instance.admit_subscription_request(self._clock.now_ms()) or may_again):
            raise RequestRejected(
                ErrorCode.THROTTLING_QUOTA_EXCEEDED,
                "the client asked again before its interval was over",
            )
        instance.last_error = ErrorCode.NONE
        return instance.subscription

    def accept_push(self, instance_id: bytes, subscription_id: int, received: ReceivedPush) -> None:
        """Receive metrics; raise RequestRejected with the error."""
        instance = self._get_or_create_instance(instance_id, received.client)
        was_terminating, instance.is_terminating = instance.is_terminating, received.is_terminating
        try:
            if was_terminating:
                _raise_rejected(
                    ErrorCode.INVALID_REQUEST, "the client has announced that it is closing"
                )
            if not (instance.admit_push(self._clock.now_ms()) or received.is_terminating):
                _raise_rejected(
                    ErrorCode.THROTTLING_QUOTA_EXCEEDED,
                    "the client pushed again before its interval was over",
                )
            self._validate_push(instance.subscription, subscription_id, received)
            if received.metrics:
                self.pushes.append(self._decompressed_push(received))
        except RequestRejected as refused:
            instance.last_error = refused.error
            raise
        instance.last_error = ErrorCode.NONE

    def _validate_push(
        self, subscription: ClientSubscription, subscription_id: int, received: ReceivedPush
    ) -> None:
        if subscription_id != subscription.subscription_id:
            text = f"subscription {subscription_id} is not {subscription.subscription_id}"
            _raise_rejected(ErrorCode.UNKNOWN_SUBSCRIPTION_ID, text)
        if received.compression not in list(Compression):
            text = f"unknown compression {received.compression}"
            _raise_rejected(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, text)
        if len(received.metrics) > self.push_bytes_max:
            text = f"{len(received.metrics)} bytes are above the limit of {self.push_bytes_max}"
            _raise_rejected(ErrorCode.TELEMETRY_TOO_LARGE, text)

    def _decompressed_push(self, received: ReceivedPush) -> AcceptedPush:
        compression = Compression(received.compression)
        size: int | None = None
        limits = self._facts.push_limit_counts_decompressed_bytes
        bytes_max = self.push_bytes_max if limits else DECOMPRESSED_BYTES_MAX
        try:
            if self._facts.pushed_metrics_are_decompressed:
                size = len(decompress(compression, received.metrics, bytes_max))
        except MissingPackageError:
            pass  # it may be right
        except DecodeError as error:
            raise RequestRejected(ErrorCode.INVALID_RECORD, str(error)) from error
        return AcceptedPush(
            received.client, received.is_terminating, compression, len(received.metrics), size
        )

    def _get_or_create_instance(
        self, instance_id: bytes, client: TelemetryClient
    ) -> _ClientInstance:
        if self._configs.client_metrics != self._seen:
            self._seen = {name: dict(own) for name, own in self._configs.client_metrics.items()}
            self._instances.clear()
        now_ms = self._clock.now_ms()
        found = self._instances.pop(instance_id, None)
        if found is None or found.is_idle_for_long(now_ms):
            found = _ClientInstance(self._merged_subscription_of(instance_id, client))
            while len(self._instances) >= INSTANCES_MAX:
                del self._instances[next(iter(self._instances))]
        found.used_ms = now_ms
        self._instances[instance_id] = found  # the most recently used is last
        return found

    def _merged_subscription_of(
        self, instance_id: bytes, client: TelemetryClient
    ) -> ClientSubscription:
        """Merge all matching subscriptions: the shortest interval, the metrics of all."""
        interval_ms = self._interval_ms({})
        names: set[str] = set()
        for own in self._seen.values():
            if self._subscription_matches_client(own, client):
                interval_ms = min(interval_ms, self._interval_ms(own))
                names.update(list_elements(own.get("metrics", "")))
        metrics = (EVERYTHING,) if EVERYTHING in names else tuple(sorted(names))
        text = f"[{', '.join(metrics)}]{interval_ms}"
        number = crc32c(text.encode()) ^ _hash_to_32_bits(instance_id)
        return ClientSubscription(_as_signed_int32(number), interval_ms, metrics)

    def _subscription_matches_client(self, own: Mapping[str, str], client: TelemetryClient) -> bool:
        patterns = parse_match_patterns(own["match"], self._facts) if "match" in own else {}
        return all(pattern.fullmatch(getattr(client, field)) for field, pattern in patterns.items())

    def _interval_ms(self, own: dict[str, str]) -> int:
        default = self._configs.client_metrics_definitions["interval.ms"].default
        return int(own.get("interval.ms", default or 0))


def _raise_rejected(error: ErrorCode, text: str) -> NoReturn:
    raise RequestRejected(error, text)


def _hash_to_32_bits(uuid: bytes) -> int:
    """Return a UUID folded to 32 bits, so that each client has its own subscription id."""
    halves = int.from_bytes(uuid[:8], "big") ^ int.from_bytes(uuid[8:], "big")
    return (halves ^ halves >> 32) & 0xFFFFFFFF


def _as_signed_int32(number: int) -> int:
    return number - (1 << 32) if number >> 31 else number
