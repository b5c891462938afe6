"""Rates as Kafka measures them for quotas: in samples of one second.

The rate covers the last ten to eleven samples; those before the first event count as empty. So the
amount of ten seconds can come together; beyond that, clients wait for at most one sample.
"""

import math
from collections import deque

import msgspec

_INT64_END = 1 << 63


def truncate_throttle_ms(exact_ms: float) -> int:
    """Return a throttle time as brokers send it, in 32 bits: they round it to 64 bits and drop the
    upper half; a negative rest does not throttle.
    """
    whole_ms = round(exact_ms) if exact_ms < _INT64_END else _INT64_END - 1
    rest_ms = whole_ms % (1 << 32)
    return rest_ms if rest_ms < 1 << 31 else 0


class _Sample(msgspec.Struct):
    since_ms: int
    last_ms: int
    amount: float = 0


class SampledRate:
    """The rate of events or of amounts such as bytes."""

    __slots__ = ("_sample_ms", "_samples", "_samples_max")

    def __init__(self, sample_ms: int = 1000, samples_max: int = 11) -> None:
        self._sample_ms = sample_ms
        self._samples_max = samples_max
        self._samples: deque[_Sample] = deque(maxlen=samples_max + 1)

    def record_amount(self, now_ms: int, amount: float = 1) -> None:
        """Count an event or an amount."""
        if not self._samples or now_ms - self._samples[-1].since_ms >= self._sample_ms:
            self._samples.append(_Sample(now_ms, now_ms))
        sample = self._samples[-1]
        sample.last_ms = now_ms
        sample.amount += amount

    def undo_last_record(self, amount: float = 1) -> None:
        """Subtract an amount that was just recorded."""
        self._samples[-1].amount -= amount

    def capped_excess_ms(self, now_ms: int, per_second: float) -> int:
        """Return the time until the rate is down to `per_second`, at
        most one sample; 0 if it is.
        """
        return truncate_throttle_ms(min(self._sample_ms, self._exact_excess_ms(now_ms, per_second)))

    def uncapped_excess_ms(self, now_ms: int, per_second: float) -> int:
        """Return the time until the rate is down to `per_second`, without a maximum."""
        return truncate_throttle_ms(self._exact_excess_ms(now_ms, per_second))

    def _exact_excess_ms(self, now_ms: int, per_second: float) -> float:
        if self.drop_expired(now_ms) or math.isnan(per_second):
            return 0
        elapsed_ms = now_ms - self._samples[0].since_ms
        missing = self._samples_max - 1 - elapsed_ms // self._sample_ms
        elapsed_ms += max(0, missing) * self._sample_ms
        count = sum(sample.amount for sample in self._samples)
        if count * 1000 <= per_second * elapsed_ms:
            return 0
        if not per_second:
            return self._sample_ms
        return count * 1000 / per_second - elapsed_ms

    def drop_expired(self, now_ms: int) -> bool:
        """Return whether all samples are expired."""
        kept_ms = self._sample_ms * self._samples_max
        while self._samples and now_ms - self._samples[0].last_ms >= kept_ms:
            self._samples.popleft()
        return not self._samples
