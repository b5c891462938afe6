"""Runs of a program with a broker of its own."""

import asyncio
import os
import sys
from collections.abc import Sequence

import msgspec

from kafka_shim.authorizer.model import Acl, Action
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import Config
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.signals import SignalForwarder
from kafka_shim.shim.traffic.least_acls.learning_authorizers import (
    LearnedNeed,
    LearningAuthorizer,
    ProvingAuthorizer,
    install_authorizer,
)

PLACEHOLDER = "{bootstrap}"


class ProgramRun(msgspec.Struct, frozen=True):
    """The result of a run: the checks of a run that allowed everything, the denials of another.

    `denied` are the denials that were visible as errors.
    """

    exit_code: int
    needs: tuple[LearnedNeed, ...] = ()
    denied: tuple[tuple[str, Action], ...] = ()


async def run_with_everything_allowed(config: Config, argv: Sequence[str]) -> ProgramRun:
    """Run the program with everything allowed."""
    broker = Broker(msgspec.structs.replace(config, super_users=(), acls=()))
    learning = LearningAuthorizer(broker.cluster.policy.rules)
    install_authorizer(broker.cluster, learning)
    exit_code = await _run_program(broker, argv)
    return ProgramRun(exit_code, needs=tuple(learning.needs))


async def run_with_acls_only(
    config: Config, argv: Sequence[str], acls: Sequence[Acl]
) -> ProgramRun:
    """Run the program with these ACLs only, and without super users."""
    broker = Broker(msgspec.structs.replace(config, super_users=(), acls=()))
    proving = ProvingAuthorizer(broker.cluster.policy.rules, acls)
    install_authorizer(broker.cluster, proving)
    exit_code = await _run_program(broker, argv)
    return ProgramRun(exit_code, denied=tuple(proving.denied))


async def _run_program(broker: Broker, argv: Sequence[str]) -> int:
    """Run the program and return its exit code; its output goes to standard error."""
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
        code = await child.wait()
    finally:
        await broker.stop()
    return code if code >= 0 else 128 - code
