"""A broker's state with a client before it: what a case prepares, asks and looks at."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafka_shim.authorizer.acl_formats.rules import parse_rule
from kafka_shim.authorizer.model import Actor
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import GroupSeed, TopicSeed
from kafka_shim.shim.observing.history import History, Seen
from kafka_shim.shim.seed import commit_offsets, create_topic
from kafka_shim.shim.settings.defaults import SASL_PLAINTEXT
from kafka_shim.shim.traffic.suite.driver import Answer, Driver

if TYPE_CHECKING:
    from kafka_shim.shim.faults.fault import Fault

USER = "alice"
PASSWORD = "alice-secret"  # noqa: S105 - of a test broker
CLIENT = "client"
TIMEOUT_MS = 6000
DEADLINE_S = 12.0
"""The client's own deadlines are half of this."""
SETTINGS = {
    "request.timeout.ms": str(TIMEOUT_MS // 2),
    "default.api.timeout.ms": str(TIMEOUT_MS),
    "delivery.timeout.ms": str(TIMEOUT_MS),
    "max.block.ms": str(TIMEOUT_MS),
    "metadata.max.age.ms": "1000",
    "auto.offset.reset": "earliest",
    "enable.auto.commit": "false",
    "allow.auto.create.topics": "false",
    "enable.idempotence": "false",
}
"""What a client is opened with unless a case says otherwise."""


class UnmetError(Exception):
    """What was expected of the client, and what it did."""

    def __init__(self, expected: str, done: str) -> None:
        super().__init__(f"expected {expected}; {done}")
        self.expected = expected
        self.done = done


class UnsupportedError(Exception):
    """The client cannot do what the case is about."""


class Situation:
    """One case's broker, empty at first, and the driver."""

    def __init__(self, broker: Broker, driver: Driver) -> None:
        self._broker = broker
        self._driver = driver
        self._is_open = False
        assert broker.dispatcher.history is not None
        self._history: History = broker.dispatcher.history
        self._servers = dict(broker.addresses())[SASL_PLAINTEXT]

    def topic(self, *names: str) -> None:
        """Topics that are there."""
        for name in names:
            create_topic(self._broker.cluster, TopicSeed(name))

    def group(self, *names: str, topic: str) -> None:
        """Groups that committed an offset for a topic's partition 0, and have no members."""
        for name in names:
            commit_offsets(self._broker.cluster, GroupSeed(name, {topic: {0: 0}}))

    def grant(self, *rules: Mapping[str, Any]) -> None:
        """Add ACLs for the user, each a rule as in the state file without its principal."""
        authorizer = self._broker.cluster.policy.authorizer
        assert authorizer is not None
        acls = [acl for rule in rules for acl in parse_rule({"principal": f"User:{USER}", **rule})]
        authorizer.create_acls(Actor("User:admin", "127.0.0.1"), acls)

    def strike(self, api: str, **action: Any) -> "Fault":
        """Have something go wrong once: the user's next request of this API is answered so."""
        match = {"api": api, "principal": f"User:{USER}"}
        return self._broker.faults.add({"match": match, "action": action})

    async def open(self, **settings: str) -> None:
        """Have the driver make a client that logs in as the user; names have `_` for `.`."""
        named = {name.replace("_", "."): value for name, value in settings.items()}
        login = {"mechanism": "PLAIN", "user": USER, "password": PASSWORD}
        fields = {
            "client": CLIENT,
            "servers": self._servers,
            "login": login,
            "settings": SETTINGS | named,
        }
        answer = await self._driver.ask("open", fields, seconds=DEADLINE_S)
        self._is_open = True
        if answer.ok is None:
            raise UnmetError("a client", f"could not open one: {answer}")

    async def close(self) -> None:
        """End what was opened."""
        if self._is_open:
            self._is_open = False
            await self._driver.ask("close", {"client": CLIENT}, seconds=DEADLINE_S)

    async def ask(self, command: str, **fields: Any) -> Answer:
        """Have the client do something; UnsupportedError if it cannot."""
        asked = {"client": CLIENT, **fields}
        answer = await self._driver.ask(command, asked, seconds=2 * DEADLINE_S)
        if answer.unsupported:
            raise UnsupportedError(command)
        return answer

    def requests(self) -> list[Seen]:
        """What the client sent in this case, oldest first."""
        return list(self._history)

    def refused(self, code: int) -> list[Seen]:
        """The requests whose answers had this error."""
        return [seen for seen in self.requests() if seen.errors and code in seen.errors]
