"""The context of a case: it prepares a cluster, uses the client, and inspects requests."""

import asyncio
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka_shim.authorizer.acl_formats.rules import parse_rule
from kafka_shim.authorizer.model import Acl
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.conformance.cluster import ClusterUnderTest, ShimCluster
from kafka_shim.shim.conformance.cluster_control import ClusterControl
from kafka_shim.shim.conformance.driver import ClientError, Driver, Response
from kafka_shim.shim.conformance.fixtures import PASSWORD, USER
from kafka_shim.shim.conformance.frames import Frame, HistoryWithResponses
from kafka_shim.shim.observing.history import HistoryEntry

if TYPE_CHECKING:
    from kafka_shim.shim.faults.fault import Fault

CLIENT = "client"
TIMEOUT_MS = 6000
DEADLINE_S = 12.0
"""Timeout of a command in the client; the timeout of one request is half of it."""
STORM = 20
"""Number of equal requests per second after a final error that is still accepted.

A client that pauses for Kafka's default `retry.backoff.ms` of 100 sends about ten.
"""
_SECOND_US = 1_000_000
_STEPS = 10
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
"""The default settings of a client."""
FRAMES_SHOWN = 8
EVERYTHING: tuple[Mapping[str, Any], ...] = tuple(
    {"allow": ["All"], resource: "*" if resource != "cluster" else None}
    for resource in ("topic", "group", "transactional_id", "cluster")
)
"""Rules that allow the user everything except with tokens and users."""
PLAIN_LOGIN = {"mechanism": "PLAIN", "user": USER, "password": PASSWORD}


class UnmetError(Exception):
    """The client did something else than expected."""

    def __init__(self, expected: str, done: str) -> None:
        super().__init__(f"expected {expected}; {done}")
        self.expected = expected
        self.done = done


def expect_error(response: Response) -> ClientError:
    """Return the error that the client reported; UnmetError if it reported none."""
    if response.error is None:
        raise UnmetError("an error", f"the client reported {response}")
    return response.error


class UnsupportedError(Exception):
    """The client does not support what the case needs."""


class CaseContext:
    """The cluster of a case, which is empty at first, and the driver."""

    def __init__(
        self, cluster: ClusterUnderTest, driver: Driver, authority: str | None = None
    ) -> None:
        self._cluster = cluster
        self._driver = driver
        self._open: list[str] = []
        self._authority = authority
        self.said: Response | None = None
        """The driver's last answer to a command of the case."""

    @property
    def release(self) -> str:
        return self._cluster.release

    @property
    def broker(self) -> Broker:
        """The shim; not available to cases that are also played on real brokers."""
        assert isinstance(self._cluster, ShimCluster)
        return self._cluster.broker

    @property
    def cluster_control(self) -> ClusterControl:
        """The operator of the brokers, for cases with `is_own`."""
        cluster_control = self._cluster.cluster_control
        assert cluster_control is not None
        return cluster_control

    def now_ms(self) -> int:
        """The time of the broker's clock in milliseconds."""
        return self._cluster.now_ms()

    @property
    def is_shim(self) -> bool:
        return isinstance(self._cluster, ShimCluster)

    @property
    def observes_frames(self) -> bool:
        """Whether the client's requests can be inspected: not those to two real brokers, or with
        TLS.
        """
        return self._frames is not None

    @property
    def _frames(self) -> HistoryWithResponses | None:
        return self._cluster.frames

    async def topic(self, *names: str, partitions: int = 1) -> None:
        """Create topics."""
        for name in names:
            await self._cluster.create_topic(name, partitions)

    async def group(self, *names: str, topic: str) -> None:
        """Create groups without members, with an offset committed for partition 0 of the topic."""
        for name in names:
            await self._cluster.commit(name, topic)

    async def grant(self, *rules: Mapping[str, Any]) -> None:
        """Add ACLs for the user; a rule is written as in the state file, without its principal."""
        await self._cluster.create_acls(_acls(rules))

    async def revoke(self, *rules: Mapping[str, Any]) -> None:
        """Remove ACLs that `grant` added."""
        await self._cluster.delete_acls(_acls(rules))

    async def write(self, topic: str, value: bytes) -> None:
        """Write a record to partition 0, without the driver."""
        await self._cluster.write(topic, value)

    async def acls_of_other_users(self) -> list[Acl]:
        """Return all ACLs except those of the user."""
        return [acl for acl in await self._cluster.acls() if acl.principal != f"User:{USER}"]

    async def settle(self) -> None:
        """Wait until the broker has applied what clients changed."""
        await self._cluster.settle()

    async def keep_running(self, seconds: float) -> None:
        """Let the client go on for a while.

        It waits in short steps: a machine that stands still in one step uses up only that step.
        """
        for _ in range(_STEPS):
            await asyncio.sleep(seconds / _STEPS)

    async def delete_topic_and_wait(self, name: str) -> None:
        """Delete a topic."""
        await self._cluster.delete_topic(name)

    def inject_error(
        self, api: str, *, match: Mapping[str, Any] = {}, times: int = 1, **action: Any
    ) -> "Fault":
        """Inject a fault into the next `times` requests of this API (0: all)."""
        trigger: dict[str, Any] = {"times": times} if times else {"every_time": True}
        written = {"match": {"api": api, **match}, "action": action, "trigger": trigger}
        return self.broker.faults.add(written)

    def inject_error_everywhere(self, **action: Any) -> None:
        """Inject a fault into every request of every API."""
        self.broker.faults.add({"action": action, "trigger": {"every_time": True}})

    async def open(self, settings: Mapping[str, str] = {}, **how: Any) -> Response:
        """Create a client as `try_open` does; UnmetError if that fails."""
        response = await self.try_open(settings, **how)
        if response.ok is None:
            raise UnmetError("a client", f"could not open one: {response}")
        return response

    async def try_open(
        self,
        settings: Mapping[str, str] = {},
        *,
        client: str = CLIENT,
        login: Mapping[str, Any] | None = PLAIN_LOGIN,
        tls: Mapping[str, Any] | None = None,
        listener: str | None = None,
        without: Iterable[str] = (),
    ) -> Response:
        """Create a client, and return the driver's answer, which may be an error.

        Names of settings have `_` in place of `.`. The default `listener` is chosen by the log-in
        and TLS; `without` are names of SETTINGS that are left out.
        """
        named = {name.replace("_", "."): value for name, value in settings.items()}
        own = "SSL" if tls is not None else "PLAINTEXT"
        if login is not None:
            own = f"SASL_{own}"
        pending_cases = {name: value for name, value in SETTINGS.items() if name not in without}
        fields = {
            "client": client,
            "servers": self._cluster.servers(listener or own),
            "login": login,
            "settings": pending_cases | named,
        }
        if tls is not None:
            fields["tls"] = tls
        response = await self._driver.ask("open", fields, seconds=DEADLINE_S)
        if response.unsupported:
            raise UnsupportedError("open")
        self.said = response
        if response.ok is not None:
            self._open.append(client)
        return response

    @property
    def trust_settings(self) -> Mapping[str, Any]:
        """The `tls` field of a client that trusts the broker's certificate."""
        assert self._authority is not None
        return {"ca": self._authority}

    async def close(self) -> None:
        """Close the clients."""
        while self._open:
            await self._driver.ask("close", {"client": self._open.pop()}, seconds=DEADLINE_S)

    async def ask(self, command: str, *, client: str = CLIENT, **fields: Any) -> Response:
        """Send a command; return the answer; UnsupportedError if the client cannot do it."""
        asked = {"client": client, **fields}
        response = await self._driver.ask(command, asked, seconds=2 * DEADLINE_S)
        if response.unsupported:
            raise UnsupportedError(command)
        self.said = response
        return response

    async def done(self, command: str, *, client: str = CLIENT, **fields: Any) -> dict[str, Any]:
        """Send a command that must succeed; return its `ok`, or that of its only item."""
        response = await self.ask(command, client=client, **fields)
        if len((response.ok or {}).get("items", {})) == 1:
            response = response.first()
        if response.ok is None:
            raise UnmetError(f"{command} succeeds", f"the client reported {response}")
        return response.ok

    def requests(self, api: ApiKey | None = None) -> list[HistoryEntry]:
        """Return the requests of this case, oldest first; empty if they cannot be inspected."""
        frames = self._frames
        return [] if frames is None else [seen for seen in frames if api in (None, seen.api)]

    def refused(self, code: int) -> list[HistoryEntry]:
        """Return the requests whose responses have this error."""
        return [seen for seen in self.requests() if seen.errors and code in seen.errors]

    def expect_no_storm(self, code: int) -> None:
        """Raise UnmetError if a client sent equal requests with this error in a loop."""
        refused = self.refused(code)
        for api in {seen.api for seen in refused}:
            times = _max_per_second([seen.time_us for seen in refused if seen.api is api])
            if times > STORM:
                raise UnmetError(
                    f"at most {STORM} equal requests a second after {error_name_with_code(code)}",
                    f"the client sent {api.wire_name} {times} times",
                )

    def exchanged_frames(self) -> tuple[Frame, ...]:
        """Return the frames for the report: those with errors or faults, and the last."""
        frames = self._frames
        if frames is None:
            return ()
        seen = list(frames)
        telling = [each for each in seen if each.errors or each.faults or each.errors is None]
        picked = {each.number for each in (telling[-FRAMES_SHOWN // 2 :] + seen[-3:])}
        return tuple(frames.frame(each) for each in seen if each.number in picked)

    def responses(self) -> frozenset[str]:
        """Return all different responses; empty if requests cannot be inspected."""
        return frozenset() if self._frames is None else self._frames.different()


def _max_per_second(times_us: Sequence[int]) -> int:
    """Return the largest number of these times, which are in order, that are within a second."""
    return max(
        bisect_left(times_us, began + _SECOND_US, at) - at for at, began in enumerate(times_us)
    )


def _acls(rules: Iterable[Mapping[str, Any]]) -> list[Acl]:
    return [acl for rule in rules for acl in parse_rule({"principal": f"User:{USER}", **rule})]
