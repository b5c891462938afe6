"""Runs of a program with a broker of its own."""

import asyncio
import os
import sys
from collections.abc import Sequence

import msgspec

from kafka_shim.authorizer.least_acls import CheckedNeed
from kafka_shim.authorizer.model import Acl, Action
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import Config
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.signals import Relay
from kafka_shim.shim.traffic.least_acls.learning import (
    LearningAuthorizer,
    ProvingAuthorizer,
    put_in_charge,
)

PLACEHOLDER = "{bootstrap}"


class Attempt(msgspec.Struct, frozen=True):
    """The result of a run: the checks of a run that allowed everything, the denials of another.

    `denied` are the denials that were visible as errors.
    """

    exit_code: int
    needs: tuple[CheckedNeed, ...] = ()
    denied: tuple[tuple[str, Action], ...] = ()


async def learn(config: Config, words: Sequence[str]) -> Attempt:
    """Run the program with everything allowed."""
    broker = Broker(msgspec.structs.replace(config, super_users=(), acls=()))
    learning = LearningAuthorizer(broker.cluster.policy.rules)
    put_in_charge(broker.cluster, learning)
    exit_code = await _run(broker, words)
    return Attempt(exit_code, needs=tuple(learning.needs))


async def prove(config: Config, words: Sequence[str], acls: Sequence[Acl]) -> Attempt:
    """Run the program with these ACLs only, and without super users."""
    broker = Broker(msgspec.structs.replace(config, super_users=(), acls=()))
    proving = ProvingAuthorizer(broker.cluster.policy.rules, acls)
    put_in_charge(broker.cluster, proving)
    exit_code = await _run(broker, words)
    return Attempt(exit_code, denied=tuple(proving.denied))


async def _run(broker: Broker, words: Sequence[str]) -> int:
    """Run the program and return its exit code; its output goes to standard error."""
    await broker.start()
    relay = Relay()
    try:
        bootstrap = broker.bootstrap_servers()
        given = [word.replace(PLACEHOLDER, bootstrap) for word in words]
        try:
            child = await asyncio.create_subprocess_exec(
                *given,
                env=os.environ | broker.environment(),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=sys.stderr,
            )
        except OSError as error:
            raise ConfigError(f"cannot start `{given[0]}`: {error.strerror}") from error
        relay.to(child)
        code = await child.wait()
    finally:
        await broker.stop()
    return code if code >= 0 else 128 - code
