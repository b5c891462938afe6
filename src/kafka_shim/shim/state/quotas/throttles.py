"""Throttle times of clients that exceed their quotas (KIP-13, KIP-124, KIP-219, KIP-599).

Bytes and request time are measured as rates over about eleven seconds; topic changes use a token
bucket of the same duration.
"""

import math
from typing import Final, TypeAlias

import msgspec

from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.quotas.quota_client import BUSY, FETCHED, MUTATIONS, QuotaClient
from kafka_shim.shim.state.quotas.quotas import Quotas
from kafka_shim.shim.state.quotas.sampled_rate import SampledRate, truncate_throttle_ms
from kafka_shim.shim.state.settings.configs import Configs

_KEPT: Final = 1000
"""Clients; beyond that, those that did nothing for long are forgotten."""


_QuotaSharers: TypeAlias = tuple[str, str]
"""The clients that share a quota, as `Quotas.limit_for_client` names them."""


class _TokenBucket(msgspec.Struct):
    """The tokens left for topic changes; may be negative."""

    tokens: float
    filled_ms: int


class Throttles:
    """Measures the clients of a broker while any client has a quota."""

    def __init__(self, quotas: Quotas, configs: Configs, clock: Clock) -> None:
        self._quotas = quotas
        self._configs = configs
        self._clock = clock
        self._rates: dict[tuple[str, _QuotaSharers], SampledRate] = {}
        self._buckets: dict[_QuotaSharers, _TokenBucket] = {}

    def record_usage(self, quota_name: str, client: QuotaClient, amount: float) -> int:
        """Count bytes, or percents of a second; return the throttle time in ms."""
        found = self._quotas.limit_for_client(quota_name, *client)
        if found is None:
            return 0
        shared, limit = found
        now_ms = self._clock.now_ms()
        rate = self._client_rate((quota_name, shared), now_ms)
        rate.record_amount(now_ms, amount)
        if quota_name == BUSY:
            return rate.capped_excess_ms(now_ms, limit)
        return rate.uncapped_excess_ms(now_ms, limit)

    def undo_last_record(self, quota_name: str, client: QuotaClient, amount: float) -> None:
        """Undo the last count."""
        found = self._quotas.limit_for_client(quota_name, *client)
        if found is not None:
            self._rates[quota_name, found[0]].undo_last_record(amount)

    def fetch_bytes_max(self, client: QuotaClient) -> int | None:
        """Return the bytes that one fetch may return: the quota of a window, 0 if it is NaN; None
        without a quota.
        """
        found = self._quotas.limit_for_client(FETCHED, *client)
        if found is None:
            return None
        limit = found[1]
        return (
            0 if math.isnan(limit) else int(limit * (self._sample_count - 1) * self._sample_seconds)
        )

    def take_mutation_tokens(
        self, client: QuotaClient, count: int, *, is_strict: bool
    ) -> tuple[bool, int]:
        """Take topic changes from the bucket; return whether they are allowed, and the throttle
        time.

        Strict ones are rejected once the bucket is empty; others are allowed and throttled.
        """
        found = self._quotas.limit_for_client(MUTATIONS, *client)
        if found is None:
            return True, 0
        shared, limit = found
        now_ms = self._clock.now_ms()
        most = limit * self._sample_count * self._sample_seconds
        bucket = self._buckets.setdefault(shared, _TokenBucket(most, now_ms))
        refilled = bucket.tokens + limit * (now_ms - bucket.filled_ms) / 1000
        bucket.tokens, bucket.filled_ms = min(most, refilled), now_ms
        if is_strict and bucket.tokens < 0:
            return False, truncate_throttle_ms(-bucket.tokens / limit * 1000)
        bucket.tokens -= count
        if is_strict or not bucket.tokens < 0:  # nor if the limit is NaN
            return True, 0
        return True, truncate_throttle_ms(-bucket.tokens / limit * 1000)

    def _client_rate(self, key: tuple[str, _QuotaSharers], now_ms: int) -> SampledRate:
        rate = self._rates.get(key)
        if rate is None:
            if len(self._rates) >= _KEPT:
                idle = [known for known, kept in self._rates.items() if kept.drop_expired(now_ms)]
                for known in idle:
                    del self._rates[known]
            rate = self._rates[key] = SampledRate(self._sample_seconds * 1000, self._sample_count)
        return rate

    @property
    def _sample_count(self) -> int:
        return self._configs.effective_broker_int("quota.window.num")

    @property
    def _sample_seconds(self) -> int:
        return self._configs.effective_broker_int("quota.window.size.seconds")
