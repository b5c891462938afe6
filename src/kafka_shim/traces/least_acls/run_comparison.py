"""What runs of a program did, to compare one that has few ACLs with one that was allowed all."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatResponse
from kafka_shim.shim.dispatching.interceptors import Exchange, Interceptor
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.groups.streams.streams_member import StreamsStatus
from kafka_shim.text.message_text import count_with_noun

_TIMED: Final = frozenset(
    {
        *(ApiKey.HEARTBEAT, ApiKey.LEAVE_GROUP, ApiKey.API_VERSIONS),
        *(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY),
    }
)
"""Requests that depend on how long a run takes, and how it ends."""


class RunActivity(msgspec.Struct, frozen=True):
    """The kinds of requests of a run, the statuses in responses, and the number of records that
    each topic has after it.
    """

    requests: frozenset[ApiKey] = frozenset()
    statuses: frozenset[StreamsStatus] = frozenset()
    record_counts: Counter[str] = Counter()


class RunObserver(Interceptor):
    """Observes what a program does with a broker."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._requests: set[ApiKey] = set()
        self._statuses: set[StreamsStatus] = set()

    def on_request(self, exchange: Exchange) -> None:
        self._requests.add(exchange.api.key)

    def on_response(self, exchange: Exchange) -> None:
        if isinstance(exchange.response, StreamsGroupHeartbeatResponse):
            codes = (status.status_code for status in exchange.response.status or ())
            self._statuses.update(map(StreamsStatus, codes))

    def activity(self) -> RunActivity:
        """Return what was observed so far."""
        counts = Counter(
            {
                topic.name: sum(partition.log.end_offset for partition in topic.partitions)
                for topic in self._cluster.topics
                if not topic.is_internal
            }
        )
        return RunActivity(frozenset(self._requests), frozenset(self._statuses), +counts)


def shortfalls(
    first: RunActivity, second: RunActivity, prefixes: Sequence[str], *, was_stopped: bool
) -> Iterator[str]:
    """Yield what the second run lacks of the first one, and problems that only it had.

    Names with one of the `prefixes` differ from run to run. If the runs were stopped, the numbers
    of records depend on time, and a topic only lacks records if it has none.
    """
    missing = sorted(key.wire_name for key in first.requests - second.requests - _TIMED)
    if missing:
        yield f"it sent no {', '.join(missing)}"
    for status in sorted(second.statuses - first.statuses):
        yield f"its streams group had the status {status.name}"
    wanted, got = (_counts_by_prefix(run.record_counts, prefixes) for run in (first, second))
    for name, count in sorted(wanted.items()):
        if got[name] < (1 if was_stopped else count):
            records = count_with_noun(got[name], "record")
            yield f"it wrote {records} to `{name}`, the first run {count}"


def _counts_by_prefix(record_counts: Counter[str], prefixes: Sequence[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for name, count in record_counts.items():
        own = (prefix for prefix in prefixes if name.startswith(prefix))
        counts[max(own, key=len, default=name)] += count
    return counts
