"""How fast something comes, counted as Kafka counts it for its quotas: in samples of a second each.

The rate is that of the last ten to eleven samples, of which those before the first event count as
empty. So ten seconds' worth may come at once; who comes faster waits a sample at most.
"""

from collections import deque

import msgspec


class _Sample(msgspec.Struct):
    since_ms: int
    last_ms: int
    count: float = 0


class Rate:
    """The rate of events, or of what they bring: bytes, say."""

    __slots__ = ("_sample_ms", "_samples", "_samples_max")

    def __init__(self, sample_ms: int = 1000, samples_max: int = 11) -> None:
        self._sample_ms = sample_ms
        self._samples_max = samples_max
        self._samples: deque[_Sample] = deque(maxlen=samples_max + 1)

    def record(self, now_ms: int, amount: float = 1) -> None:
        """Count an event, or what it brings."""
        if not self._samples or now_ms - self._samples[-1].since_ms >= self._sample_ms:
            self._samples.append(_Sample(now_ms, now_ms))
        sample = self._samples[-1]
        sample.last_ms = now_ms
        sample.count += amount

    def take_back(self, amount: float = 1) -> None:
        """Do not count the last event."""
        self._samples[-1].count -= amount

    def excess_ms(self, now_ms: int, per_second: float) -> int:
        """How long to wait until the rate is `per_second` again, at most one sample; 0 if it is."""
        return min(self._sample_ms, self.whole_excess_ms(now_ms, per_second))

    def whole_excess_ms(self, now_ms: int, per_second: float) -> int:
        """The same, however long it is."""
        if self.is_idle(now_ms):
            return 0
        elapsed_ms = now_ms - self._samples[0].since_ms
        missing = self._samples_max - 1 - elapsed_ms // self._sample_ms
        elapsed_ms += max(0, missing) * self._sample_ms
        count = sum(sample.count for sample in self._samples)
        if count * 1000 <= per_second * elapsed_ms:
            return 0
        if not per_second:
            return self._sample_ms
        return round(count * 1000 / per_second - elapsed_ms)

    def is_idle(self, now_ms: int) -> bool:
        """Whether nothing of it counts any more."""
        kept_ms = self._sample_ms * self._samples_max
        while self._samples and now_ms - self._samples[0].last_ms >= kept_ms:
            self._samples.popleft()
        return not self._samples
