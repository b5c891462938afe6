"""Throttle times of clients that exceed their quotas (KIP-13, KIP-124, KIP-219, KIP-599).

Bytes and request time are measured as rates over about eleven seconds; topic changes use a token
bucket of the same duration.
"""

import math
from typing import Final

import msgspec

from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.quotas.quotas import Quotas
from kafka_shim.shim.state.quotas.rate import Rate, throttle_ms
from kafka_shim.shim.state.settings.configs import Configs

PRODUCED: Final = "producer_byte_rate"
FETCHED: Final = "consumer_byte_rate"
BUSY: Final = "request_percentage"
MUTATIONS: Final = "controller_mutation_rate"
_KEPT: Final = 1000
"""Clients; beyond that, those that did nothing for long are forgotten."""

QuotaClient = tuple[str, str]
"""A principal's name and a client id."""


class _Bucket(msgspec.Struct):
    """The tokens left for topic changes; may be negative."""

    tokens: float
    filled_ms: int


class Throttles:
    """Measures the clients of a broker while any client has a quota."""

    def __init__(self, quotas: Quotas, configs: Configs, clock: Clock) -> None:
        self._quotas = quotas
        self._configs = configs
        self._clock = clock
        self._rates: dict[tuple[str, QuotaClient], Rate] = {}
        self._buckets: dict[QuotaClient, _Bucket] = {}

    def count(self, key: str, client: QuotaClient, amount: float) -> int:
        """Count bytes, or percents of a second; return the throttle time in ms."""
        found = self._quotas.limit_of(key, *client)
        if found is None:
            return 0
        shared, limit = found
        now_ms = self._clock.now_ms()
        rate = self._rate((key, shared), now_ms)
        rate.record(now_ms, amount)
        if key == BUSY:
            return rate.excess_ms(now_ms, limit)
        return rate.whole_excess_ms(now_ms, limit)

    def take_back(self, key: str, client: QuotaClient, amount: float) -> None:
        """Undo the last count."""
        found = self._quotas.limit_of(key, *client)
        if found is not None:
            self._rates[key, found[0]].take_back(amount)

    def bytes_at_once(self, client: QuotaClient) -> int | None:
        """Return the bytes that one fetch may return: the quota of a window, 0 if it is NaN; None
        without a quota.
        """
        found = self._quotas.limit_of(FETCHED, *client)
        if found is None:
            return None
        limit = found[1]
        return 0 if math.isnan(limit) else int(limit * (self._samples - 1) * self._sample_s)

    def mutate(self, client: QuotaClient, count: int, *, is_strict: bool) -> tuple[bool, int]:
        """Take topic changes from the bucket; return whether they are allowed, and the throttle
        time.

        Strict ones are rejected once the bucket is empty; others are allowed and throttled.
        """
        found = self._quotas.limit_of(MUTATIONS, *client)
        if found is None:
            return True, 0
        shared, limit = found
        now_ms = self._clock.now_ms()
        most = limit * self._samples * self._sample_s
        bucket = self._buckets.setdefault(shared, _Bucket(most, now_ms))
        refilled = bucket.tokens + limit * (now_ms - bucket.filled_ms) / 1000
        bucket.tokens, bucket.filled_ms = min(most, refilled), now_ms
        if is_strict and bucket.tokens < 0:
            return False, throttle_ms(-bucket.tokens / limit * 1000)
        bucket.tokens -= count
        if is_strict or not bucket.tokens < 0:  # nor if the limit is NaN
            return True, 0
        return True, throttle_ms(-bucket.tokens / limit * 1000)

    def _rate(self, key: tuple[str, QuotaClient], now_ms: int) -> Rate:
        rate = self._rates.get(key)
        if rate is None:
            if len(self._rates) >= _KEPT:
                idle = [known for known, kept in self._rates.items() if kept.is_idle(now_ms)]
                for known in idle:
                    del self._rates[known]
            rate = self._rates[key] = Rate(self._sample_s * 1000, self._samples)
        return rate

    @property
    def _samples(self) -> int:
        return self._configs.broker_int("quota.window.num")

    @property
    def _sample_s(self) -> int:
        return self._configs.broker_int("quota.window.size.seconds")
