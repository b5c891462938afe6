"""A broker's state with a client before it: what a case prepares, asks and looks at."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kafka_shim.authorizer.acl_formats.rules import parse_rule
from kafka_shim.authorizer.model import Acl
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.names import error_text
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.observing.history import Seen
from kafka_shim.shim.traffic.suite.driver import Answer, ClientError, Driver
from kafka_shim.shim.traffic.suite.frames import Frame, Frames
from kafka_shim.shim.traffic.suite.operating import Operator
from kafka_shim.shim.traffic.suite.place import Place, ShimPlace
from kafka_shim.shim.traffic.suite.stages import PASSWORD, USER

if TYPE_CHECKING:
    from kafka_shim.shim.faults.fault import Fault

CLIENT = "client"
TIMEOUT_MS = 6000
DEADLINE_S = 12.0
"""The client's own deadlines are half of this."""
STORM = 10
"""Equal requests within a second that are too many for an answer that is final."""
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
FRAMES_SHOWN = 8
EVERYTHING: tuple[Mapping[str, Any], ...] = tuple(
    {"allow": ["All"], resource: "*" if resource != "cluster" else None}
    for resource in ("topic", "group", "transactional_id", "cluster")
)
"""Rules that let the user do all but what is about tokens and users."""
PLAIN_LOGIN = {"mechanism": "PLAIN", "user": USER, "password": PASSWORD}


class UnmetError(Exception):
    """What was expected of the client, and what it did."""

    def __init__(self, expected: str, done: str) -> None:
        super().__init__(f"expected {expected}; {done}")
        self.expected = expected
        self.done = done


def expect_error(answer: Answer) -> ClientError:
    """Return the error that the client told its user."""
    if answer.error is None:
        raise UnmetError("an error", f"the client reported {answer}")
    return answer.error


class UnsupportedError(Exception):
    """The client cannot do what the case is about."""


class Situation:
    """One case's cluster, empty at first, and the driver."""

    def __init__(self, place: Place, driver: Driver, authority: str | None = None) -> None:
        self._place = place
        self._driver = driver
        self._open: list[str] = []
        self._authority = authority
        self.said: Answer | None = None
        """What the driver answered last to a command of the case."""

    @property
    def release(self) -> str:
        return self._place.release

    @property
    def broker(self) -> Broker:
        """The shim; cases that a real broker can be brought into do not ask for it."""
        assert isinstance(self._place, ShimPlace)
        return self._place.broker

    @property
    def operator(self) -> Operator:
        """The place that runs the brokers; only cases marked `is_own` use it."""
        operator = self._place.operator
        assert operator is not None
        return operator

    def now_ms(self) -> int:
        """The time of the broker's clock."""
        return self._place.now_ms()

    @property
    def sees_frames(self) -> bool:
        """Whether it is seen what the client sends."""
        return self._frames is not None

    @property
    def _frames(self) -> Frames | None:
        if not isinstance(self._place, ShimPlace):
            return None
        history = self._place.broker.dispatcher.history
        assert isinstance(history, Frames)
        return history

    async def topic(self, *names: str, partitions: int = 1) -> None:
        """Topics that are there."""
        for name in names:
            await self._place.create_topic(name, partitions)

    async def group(self, *names: str, topic: str) -> None:
        """Groups that committed an offset for a topic's partition 0, and have no members."""
        for name in names:
            await self._place.commit(name, topic)

    async def grant(self, *rules: Mapping[str, Any]) -> None:
        """Add ACLs for the user, each a rule as in the state file without its principal."""
        await self._place.create_acls(_acls(rules))

    async def revoke(self, *rules: Mapping[str, Any]) -> None:
        """Remove ACLs that were granted so."""
        await self._place.delete_acls(_acls(rules))

    async def write(self, topic: str, value: bytes) -> None:
        """A record in partition 0, of no client of the driver."""
        await self._place.write(topic, value)

    async def others_acls(self) -> list[Acl]:
        """All ACLs but those of the user."""
        return [acl for acl in await self._place.acls() if acl.principal != f"User:{USER}"]

    async def settle(self) -> None:
        """Wait until the broker has learnt of what clients changed."""
        await self._place.settle()

    async def drop_topic(self, name: str) -> None:
        """The topic is gone."""
        await self._place.delete_topic(name)

    def strike(
        self, api: str, *, match: Mapping[str, Any] = {}, times: int = 1, **action: Any
    ) -> "Fault":
        """Have something go wrong `times` times (0: always) with requests of this API."""
        trigger: dict[str, Any] = {"times": times} if times else {"every_time": True}
        written = {"match": {"api": api, **match}, "action": action, "trigger": trigger}
        return self.broker.faults.add(written)

    def strike_all(self, **action: Any) -> None:
        """Have something go wrong with every request of every API."""
        self.broker.faults.add({"action": action, "trigger": {"every_time": True}})

    async def open(self, settings: Mapping[str, str] = {}, **how: Any) -> Answer:
        """Have the driver make a client as `try_open` does; UnmetError if there is none."""
        answer = await self.try_open(settings, **how)
        if answer.ok is None:
            raise UnmetError("a client", f"could not open one: {answer}")
        return answer

    async def try_open(
        self,
        settings: Mapping[str, str] = {},
        *,
        client: str = CLIENT,
        login: Mapping[str, Any] | None = PLAIN_LOGIN,
        tls: Mapping[str, Any] | None = None,
        listener: str | None = None,
        without: Iterable[str] = (),
    ) -> Answer:
        """Have the driver make a client, which it may refuse; names of settings have `_` for `.`.

        `listener` is the one that fits the log-in and TLS, unless it is said; `without` are names
        of SETTINGS.
        """
        named = {name.replace("_", "."): value for name, value in settings.items()}
        own = "SSL" if tls is not None else "PLAINTEXT"
        if login is not None:
            own = f"SASL_{own}"
        left = {name: value for name, value in SETTINGS.items() if name not in without}
        fields = {
            "client": client,
            "servers": self._place.servers(listener or own),
            "login": login,
            "settings": left | named,
        }
        if tls is not None:
            fields["tls"] = tls
        answer = await self._driver.ask("open", fields, seconds=DEADLINE_S)
        if answer.unsupported:
            raise UnsupportedError("open")
        self.said = answer
        if answer.ok is not None:
            self._open.append(client)
        return answer

    @property
    def trusted(self) -> Mapping[str, Any]:
        """TLS with the authority that the broker's certificate is of."""
        assert self._authority is not None
        return {"ca": self._authority}

    async def close(self) -> None:
        """End what was opened."""
        while self._open:
            await self._driver.ask("close", {"client": self._open.pop()}, seconds=DEADLINE_S)

    async def ask(self, command: str, *, client: str = CLIENT, **fields: Any) -> Answer:
        """Have the client do something; UnsupportedError if it cannot."""
        asked = {"client": client, **fields}
        answer = await self._driver.ask(command, asked, seconds=2 * DEADLINE_S)
        if answer.unsupported:
            raise UnsupportedError(command)
        self.said = answer
        return answer

    async def done(self, command: str, *, client: str = CLIENT, **fields: Any) -> dict[str, Any]:
        """Have it do what must succeed; return its `ok`, or that of its only item."""
        answer = await self.ask(command, client=client, **fields)
        if len((answer.ok or {}).get("items", {})) == 1:
            answer = answer.first()
        if answer.ok is None:
            raise UnmetError(f"{command} succeeds", f"the client reported {answer}")
        return answer.ok

    def requests(self, api: ApiKey | None = None) -> list[Seen]:
        """What clients sent in this case, oldest first; nothing of a real broker."""
        frames = self._frames
        return [] if frames is None else [seen for seen in frames if api in (None, seen.api)]

    def refused(self, code: int) -> list[Seen]:
        """The requests whose answers had this error."""
        return [seen for seen in self.requests() if seen.errors and code in seen.errors]

    def expect_no_storm(self, code: int) -> None:
        """UnmetError if a client sent equal requests again and again that were answered so."""
        by_second = Counter((seen.api, seen.time_us // 1_000_000) for seen in self.refused(code))
        for (api, _), times in by_second.items():
            if times > STORM:
                raise UnmetError(
                    f"at most {STORM} equal requests a second after {error_text(code)}",
                    f"the client sent {api.wire_name} {times} times",
                )

    def shown(self) -> tuple[Frame, ...]:
        """The frames that show what came of it: those with errors or faults, and the last."""
        frames = self._frames
        if frames is None:
            return ()
        seen = list(frames)
        telling = [each for each in seen if each.errors or each.faults or each.errors is None]
        picked = {each.number for each in (telling[-FRAMES_SHOWN // 2 :] + seen[-3:])}
        return tuple(frames.frame(each) for each in seen if each.number in picked)


def _acls(rules: Iterable[Mapping[str, Any]]) -> list[Acl]:
    return [acl for rule in rules for acl in parse_rule({"principal": f"User:{USER}", **rule})]
