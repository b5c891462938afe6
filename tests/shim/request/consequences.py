"""What a request costs the event loop: itself, what follows it, and the timers that it sets."""

import resource
import time
import traceback
from functools import cache, partial
from pathlib import Path

from benchmarks.arrays.messages import Case
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.dispatching.dispatcher import PendingExchange
from kafka_shim.shim.errors import CloseConnection
from tests.fuzz.judging import LONG_S, session_of
from tests.fuzz.probe import Probe
from tests.shim.play import ADMIN
from tests.shim.request.busy_cluster import ALICE, LATER, NONE, BusyCluster, Values
from tests.shim.request.extremes import Extreme, frame_of

GROWN_BYTES_MAX = 64 << 20
TIMERS_MAX = 1_000
"""Timers that may fire in each of the steps below."""
SOON_MS, LATER_MS = 5_000, 660_000
"""Until delayed assignments are computed; until sessions have ended and retention has run."""
_SECOND: Values = {"group_id": "s2"}
FOLLOWERS: tuple[tuple[ApiKey, Values], ...] = (
    (ApiKey.PRODUCE, NONE),
    (ApiKey.METADATA, NONE),
    (ApiKey.DESCRIBE_CLUSTER, NONE),
    (ApiKey.DESCRIBE_TOPIC_PARTITIONS, NONE),
    (ApiKey.LIST_OFFSETS, NONE),
    (ApiKey.FETCH, NONE),
    (ApiKey.OFFSET_FOR_LEADER_EPOCH, NONE),
    (ApiKey.DESCRIBE_PRODUCERS, NONE),
    (ApiKey.DESCRIBE_LOG_DIRS, NONE),
    (ApiKey.DESCRIBE_CONFIGS, NONE),
    (ApiKey.LIST_PARTITION_REASSIGNMENTS, NONE),
    (ApiKey.LIST_GROUPS, NONE),
    (ApiKey.DESCRIBE_GROUPS, NONE),
    (ApiKey.OFFSET_FETCH, NONE),
    (ApiKey.HEARTBEAT, NONE),
    (ApiKey.CONSUMER_GROUP_HEARTBEAT, NONE),
    (ApiKey.CONSUMER_GROUP_DESCRIBE, NONE),
    (ApiKey.SHARE_GROUP_HEARTBEAT, NONE),
    (ApiKey.SHARE_GROUP_DESCRIBE, NONE),
    (ApiKey.SHARE_FETCH, NONE),
    (ApiKey.SHARE_FETCH, {**_SECOND, "share_session_epoch": 0}),
    (ApiKey.SHARE_ACKNOWLEDGE, {**_SECOND, "share_session_epoch": 1}),
    (ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, NONE),
    (ApiKey.READ_SHARE_GROUP_STATE, NONE),
    (ApiKey.READ_SHARE_GROUP_STATE_SUMMARY, NONE),
    (ApiKey.STREAMS_GROUP_HEARTBEAT, NONE),
    (ApiKey.STREAMS_GROUP_HEARTBEAT, LATER),
    (ApiKey.STREAMS_GROUP_DESCRIBE, NONE),
    (ApiKey.LIST_TRANSACTIONS, NONE),
    (ApiKey.DESCRIBE_TRANSACTIONS, NONE),
    (ApiKey.DESCRIBE_DELEGATION_TOKEN, NONE),
    (ApiKey.DESCRIBE_ACLS, NONE),
    (ApiKey.DESCRIBE_CLIENT_QUOTAS, NONE),
    (ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, NONE),
    (ApiKey.END_TXN, NONE),
    (ApiKey.CREATE_TOPICS, {"name": "follower"}),
)


@cache
def _followers(release: str, authorizer: str) -> list[tuple[ApiKey, bytes]]:
    cluster = BusyCluster(release, authorizer=authorizer)
    advertised = cluster.dispatcher.apis.advertised
    made = []
    for api, values in FOLLOWERS:
        if api in advertised:
            case = Case(api, advertised[api][1], (), is_equal=False)
            made.append((api, frame_of(case, cluster.valid(case, values))))
    return made


class Outcome:
    """The longest work after a request, and what failed; empty if nothing did."""

    def __init__(self, release: str, authorizer: str, extreme: Extreme) -> None:
        self.longest_s, self.slowest, self.failure = 0.0, "", ""
        self._cluster = BusyCluster(release, authorizer=authorizer)
        self._followers = _followers(release, authorizer)
        self._probe = Probe()
        self._waiting: list[PendingExchange] = []
        before = _peak_bytes()
        try:
            self._play(extreme)
        except Exception:  # noqa: BLE001 - any exception of a handler is a finding
            self.failure = traceback.format_exc()
        grown = _peak_bytes(is_new=False) - before
        if grown > GROWN_BYTES_MAX:
            self.failure = self.failure or f"{grown >> 20} MiB more memory"

    @property
    def is_slow(self) -> bool:
        return self.longest_s > LONG_S

    @property
    def what(self) -> str:
        """Return what is wrong; empty if nothing is."""
        if self.failure or not self.is_slow:
            return self.failure
        return f"{self.longest_s * 1000:.0f} ms for {self.slowest}"

    def _play(self, extreme: Extreme) -> None:
        if self._sent("the request", extreme.frame(self._cluster), ALICE):
            self._follow(0)
            self._follow(SOON_MS)
            self._advance(LATER_MS)
        assert self._sent("another client", self._followers[1][1], ADMIN), "not answered"
        for pending in self._waiting:
            pending.cancel()

    def _follow(self, after_ms: int) -> None:
        self._advance(after_ms)
        for api, frame in self._followers:
            self._sent(f"{api.wire_name} {after_ms} ms later", frame, ADMIN)

    def _sent(self, what: str, frame: bytes, user: str) -> bool:
        """Send a frame; return False if the broker closes the connection."""
        try:
            response = self._probe.dispatch(self._cluster.dispatcher, frame, session_of(user))
        except CloseConnection:
            return False
        finally:
            self._note(self._probe.seconds, what)
        if isinstance(response, PendingExchange):
            self._waiting.append(response)
            response.wait.set_response_callback(partial(_framed, response))
        return True

    def _advance(self, by_ms: int) -> None:
        clock, began = self._cluster.clock, time.process_time()
        fired = clock.fired_timers
        clock.advance(by_ms)
        count = clock.fired_timers - fired
        self._note(time.process_time() - began, f"{count} timers")
        assert count <= TIMERS_MAX, f"{count} timers in {by_ms} ms"

    def _note(self, seconds: float, what: str) -> None:
        if seconds > self.longest_s:
            self.longest_s, self.slowest = seconds, what


def _framed(pending: PendingExchange, response: object) -> None:
    """Encode a response, as a connection does when a wait ends."""
    pending.finish(response)


def _peak_bytes(*, is_new: bool = True) -> int:
    """Return the most memory that this process had, if possible since it was last measured anew."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    if is_new:
        Path("/proc/self/clear_refs").write_text("5")
    return int(status.read_text().partition("VmHWM:")[2].split()[0]) << 10
