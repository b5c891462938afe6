"""Runs of a program with a broker of its own."""

import asyncio
import contextlib
import os
import sys
from asyncio.subprocess import Process
from collections.abc import Sequence

import msgspec

from kafka_shim.authorizer.model import Acl, Action
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import Config
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.signals import SignalForwarder
from kafka_shim.traces.least_acls.learning_authorizers import (
    LearnedNeed,
    LearningAuthorizer,
    ProvingAuthorizer,
    install_authorizer,
)
from kafka_shim.traces.least_acls.run_comparison import RunActivity, RunObserver

PLACEHOLDER = "{bootstrap}"
TERMINATION_S = 10
"""How long a program may take to end after SIGTERM, before it is killed."""


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
