"""How Kafka releases differ about the metrics of clients (KIP-714).

Found by sending the same requests to brokers with a receiver for metrics.
"""

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.change import Change


class TelemetryFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a release about clients' metrics."""

    # subscriptions
    empty_match_is_none: bool
    """An empty `match` matches all clients (False: it is an invalid pattern)."""
    match_values_are_trimmed: bool
    """Spaces around `=` are ignored (False: they are part of the pattern)."""
    bad_interval_error: ErrorCode  # error code of an interval that is not a number
    intervals_are_trimmed: bool  # spaces around an interval are ignored (False: it is invalid)
    # requests
    asks_after_errors: bool  # a client with an outdated subscription may ask again at once
    decompresses: bool  # pushed metrics are decompressed (False: receivers get the bytes as sent)
    limits_decompressed: bool  # the limit for a push also applies to its decompressed size


OLDEST = TelemetryFacts(
    empty_match_is_none=False,
    match_values_are_trimmed=False,
    bad_interval_error=ErrorCode.UNKNOWN_SERVER_ERROR,
    intervals_are_trimmed=False,
    asks_after_errors=False,
    decompresses=False,
    limits_decompressed=False,
)
"""The facts of 3.7, the first release with them."""

CHANGES: tuple[Change, ...] = (
    Change("3.8", "pushes are decompressed", decompresses=True, match_values_are_trimmed=True),
    Change(
        "4.0",
        "settings of subscriptions are checked as others are",
        empty_match_is_none=True,
        bad_interval_error=ErrorCode.INVALID_CONFIG,
        intervals_are_trimmed=True,
    ),
    Change("4.0.1", "subscriptions after errors", asks_after_errors=True),
    Change("4.2.2", "small pushes cannot become large ones", limits_decompressed=True),
)
