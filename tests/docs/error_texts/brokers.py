"""The brokers whose clients fail in each way that docs/guides/troubleshooting.md describes."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from kafka_shim.testing import KafkaBroker, start

UNREACHABLE = "127.0.0.1:1"
UNRESOLVABLE = "no-such-host.invalid:9092"


@dataclass(frozen=True)
class Brokers:
    """`newest` has the topics `orders`, which alice cannot access, and `shared`, which she can."""

    newest: KafkaBroker
    with_tls: KafkaBroker
    oldest: KafkaBroker
    without_authorizer: KafkaBroker


@contextlib.contextmanager
def brokers() -> Iterator[Brokers]:
    with contextlib.ExitStack() as stack:
        newest = stack.enter_context(
            start(
                in_process=True,
                topics=["orders", "shared"],
                users={"alice": "secret"},
                acls=[{"principal": "alice", "allow": "Read", "topic": "shared"}],
                properties={"auto.create.topics.enable": "false"},
            )
        )
        with_tls = stack.enter_context(start(in_process=True, tls=True))
        oldest = stack.enter_context(start(in_process=True, kafka_version="2.3"))
        without = stack.enter_context(start(in_process=True, authorizer="none"))
        yield Brokers(newest, with_tls, oldest, without)
