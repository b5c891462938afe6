"""Runs of a program with a broker of its own, what they did, and how they differ."""

import asyncio
import contextlib
import os
import sys
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kafka_shim.authorizer.model import Acl, Action
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatResponse
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import Config
from kafka_shim.shim.dispatching.interceptors import Exchange, Interceptor
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.signals import SignalForwarder
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.groups.streams.streams_member import StreamsStatus
from kafka_shim.text.message_text import count_with_noun
from kafka_shim.traces.least_acls.learning_authorizers import (
    LearnedNeed,
    LearningAuthorizer,
    ProvingAuthorizer,
    install_authorizer,
)

PLACEHOLDER = "{bootstrap}"
TERMINATION_S = 10
"""How long a program may take to end after SIGTERM, before it is killed."""


class RunActivity(msgspec.Struct, frozen=True):
    """The kinds of requests of a run, the statuses in responses, and the number of records that
    each topic has after it.
    """

    requests: frozenset[ApiKey] = frozenset()
    statuses: frozenset[StreamsStatus] = frozenset()
    record_counts: Counter[str] = Counter()


class ProgramRun(msgspec.Struct, frozen=True):
    """The result of a run: the checks of a run that allowed everything, the denials of another.

    `denied` are the denials that were visible as errors.
    """

    exit_code: int
    was_stopped: bool = False
    """The program was stopped by its time limit or by a signal, so its exit code means nothing."""
    needs: tuple[LearnedNeed, ...] = ()
    denied: tuple[tuple[str, Action], ...] = ()
    activity: RunActivity = RunActivity()


async def run_with_everything_allowed(
    config: Config, argv: Sequence[str], stop_after_s: float | None = None
) -> ProgramRun:
    """Run the program with everything allowed, until it ends or is stopped."""
    broker = Broker(msgspec.structs.replace(config, super_users=(), acls=()))
    learning = LearningAuthorizer(broker.cluster.policy.rules)
    install_authorizer(broker.cluster, learning)
    run = await _run_program(broker, argv, stop_after_s)
    return msgspec.structs.replace(run, needs=tuple(learning.needs))


async def run_with_acls_only(
    config: Config, argv: Sequence[str], acls: Sequence[Acl], stop_after_s: float | None = None
) -> ProgramRun:
    """Run the program with these ACLs only, and without super users."""
    broker = Broker(msgspec.structs.replace(config, super_users=(), acls=()))
    proving = ProvingAuthorizer(broker.cluster.policy.rules, acls)
    install_authorizer(broker.cluster, proving)
    run = await _run_program(broker, argv, stop_after_s)
    return msgspec.structs.replace(run, denied=tuple(proving.denied))


async def _run_program(
    broker: Broker, argv: Sequence[str], stop_after_s: float | None
) -> ProgramRun:
    """Run the program until it ends or is stopped; its output goes to standard error."""
    observer = RunObserver(broker.cluster)
    broker.dispatcher.interceptors.set_interceptor("run", observer)
    await broker.start()
    relay = SignalForwarder()
    try:
        bootstrap = broker.bootstrap_servers()
        argv_with_address = [word.replace(PLACEHOLDER, bootstrap) for word in argv]
        try:
            child = await asyncio.create_subprocess_exec(
                *argv_with_address,
                env=os.environ | broker.environment_for_clients(),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=sys.stderr,
            )
        except OSError as error:
            raise ConfigError(f"cannot start `{argv_with_address[0]}`: {error.strerror}") from error
        relay.forward_to(child)
        was_stopped = await _await_exit(child, stop_after_s)
        activity = observer.activity()
    finally:
        await broker.stop()
    code = await child.wait()
    return ProgramRun(
        code if code >= 0 else 128 - code,
        was_stopped=was_stopped or relay.has_received_signal,
        activity=activity,
    )


async def _await_exit(child: Process, stop_after_s: float | None) -> bool:
    """Wait until the program ends; return whether its time was over and it was terminated."""
    try:
        await asyncio.wait_for(child.wait(), stop_after_s)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            child.terminate()
        try:
            await asyncio.wait_for(child.wait(), TERMINATION_S)
        except TimeoutError:
            child.kill()
        return True
    return False


_TIMED: Final = frozenset(
    {
        *(ApiKey.HEARTBEAT, ApiKey.LEAVE_GROUP, ApiKey.API_VERSIONS),
        *(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY),
    }
)
"""Requests that depend on how long a run takes, and how it ends."""


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
