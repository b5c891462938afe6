"""A running broker as a test sees it."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any
from urllib.parse import quote

from shim.testing.client_configs import client_config
from shim.testing.faults import Faults
from shim.testing.nodes import Nodes
from shim.testing.settings import (
    PLAINTEXT,
    SASL_PLAINTEXT,
    SECRET,
    Settings,
    principal_of,
    with_type,
)
from shim.testing.transport import BrokerError, Transport

_PAGE = 1000


class Row(dict[str, Any]):
    """A row of the control API, whose columns are attributes as well."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no `{name}`, only {', '.join(self)}") from None


class Acls:
    """The ACLs: rules as in the state file, `{"principal": ..., "allow": ..., "topic": ...}`."""

    def __init__(self, ask: Any) -> None:
        self._ask = ask

    def add(self, *rules: Mapping[str, Any], **rule: Any) -> None:
        """Add rules; one may be given by keywords: `add(principal="alice", allow="Write", ...)`."""
        self._ask("POST", "/acls", {"acls": _rules(rules, rule)})

    def remove(self, *rules: Mapping[str, Any], **rule: Any) -> list[Row]:
        """Remove exactly these; gives those that there were."""
        gone = self._ask("POST", "/acls/remove", {"acls": _rules(rules, rule)})
        return [Row(acl) for acl in gone["acls"]]

    def list(self, principal: str | None = None) -> list[Row]:
        query = {} if principal is None else {"principal": principal_of(principal)}
        return [Row(acl) for acl in self._ask("GET", "/acls", query=query)["acls"]]


class Topics:
    """The topics."""

    def __init__(self, ask: Any) -> None:
        self._ask = ask

    def create(
        self,
        name: str,
        partitions: int = 1,
        replication_factor: int | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> Row:
        """Make a topic; settings by Kafka's names: `configs={"retention.ms": "60000"}`.

        Without a replication factor it is the broker's default, 1.
        """
        body = {
            "name": name,
            "partitions": partitions,
            "replication_factor": replication_factor,
            "configs": dict(configs or {}),
        }
        return Row(self._ask("POST", "/topics", body))

    def delete(self, name: str) -> None:
        self._ask("DELETE", f"/topics/{quote(name, safe='')}")

    def compact(self, name: str) -> list[Row]:
        """Compact a topic now; one row a partition says how much of it is left.

        Its `cleanup.policy` must have `compact`. Records younger than `min.compaction.lag.ms`, and
        all behind an open transaction, stay as they are.
        """
        path = f"/topics/{quote(name, safe='')}/compact"
        return [Row(partition) for partition in self._ask("POST", path)["partitions"]]

    def list(self) -> list[Row]:
        return [Row(topic) for topic in self._ask("GET", "/topics")["topics"]]


class Users:
    """Who can log in."""

    def __init__(self, ask: Any, passwords: dict[str, str]) -> None:
        self._ask = ask
        self._passwords = passwords

    def add(self, name: str, password: str | None = None) -> str:
        """Add a user, or change its password; gives the password (by default NAME-secret)."""
        password = password or SECRET.format(name=name)
        self._ask("POST", "/users", {"name": name, "password": password})
        self._passwords[name] = password
        return password

    def remove(self, name: str) -> None:
        self._ask("DELETE", f"/users/{quote(name, safe='')}")
        self._passwords.pop(name, None)

    def list(self) -> list[str]:
        found: list[str] = self._ask("GET", "/users")["users"]
        return found


class Clock:
    """The cluster's time."""

    def __init__(self, ask: Any) -> None:
        self._ask = ask

    def now_ms(self) -> int:
        return int(self._ask("GET", "/clock")["now_ms"])

    def advance(self, by_ms: int) -> int:
        """Move time on, in a broker that was started with `manual_clock=True`."""
        return int(self._ask("POST", "/clock/advance", {"by_ms": by_ms})["now_ms"])


class KafkaBroker:
    """A broker that tests see into and change while it runs. From any thread."""

    def __init__(self, transport: Transport, settings: Settings) -> None:
        self._transport = transport
        self._settings = settings
        self._passwords = settings.passwords
        self._kept_passwords: dict[int, dict[str, str]] = {}
        self.acls = Acls(self._ask)
        self.topics = Topics(self._ask)
        self.users = Users(self._ask, self._passwords)
        self.faults = Faults(self._ask)
        self.clock = Clock(self._ask)
        self.nodes = Nodes(self._ask)

    # how clients get there

    @property
    def bootstrap_servers(self) -> str:
        """`host:port,...` of the first listener, where nobody needs to log in."""
        return ",".join(next(iter(self._transport.listeners.values())))

    @property
    def listeners(self) -> dict[str, str]:
        """Bootstrap servers by listener name."""
        found = self._transport.listeners
        return {name: ",".join(addresses) for name, addresses in found.items()}

    @property
    def control_url(self) -> str | None:
        """Where the control API is; None in process."""
        return self._transport.control_url

    def config(
        self,
        user: str | None = None,
        style: str = "confluent-kafka",
        mechanism: str = "PLAIN",
        **more: Any,
    ) -> dict[str, Any]:
        """What a client is made with, to log in as `user`, who is added if need be.

        `style` is whose names: `confluent-kafka`, `kafka-python`, `aiokafka` or `java`. Without a
        user: for the listener without a log-in. `more` is put into it.
        """
        listener = PLAINTEXT if user is None else SASL_PLAINTEXT
        servers = self.listeners.get(listener)
        if servers is None:
            raise BrokerError(f"the broker was started without a listener {listener}")
        login = None
        if user is not None:
            login = (mechanism, user, self._passwords.get(user) or self.users.add(user))
        return client_config(style, servers, login) | more

    # what happened

    def requests(
        self, api: str | None = None, principal: str | None = None, client_id: str | None = None
    ) -> list[Row]:
        """The requests since the last reset, oldest first, decoded, in Kafka's field names."""
        asked = {"api": api, "principal": _principal(principal), "client_id": client_id}
        return self._all("requests", asked, 0)

    def decisions(
        self,
        api: str | None = None,
        principal: str | None = None,
        *,
        allowed: bool | None = None,
        after: int = 0,
        **more: Any,
    ) -> list[Row]:
        """What was decided for them; also by `operation`, `resource_type`, `resource_name`,
        `logged`. `after`: only of requests with a greater number.
        """
        asked = {"api": api, "principal": _principal(principal), "allowed": allowed, **more}
        return self._all("decisions", asked, after)

    def denials(self, *, after: int = 0) -> list[Row]:
        """The denials that Kafka's audit log would have."""
        return self.decisions(allowed=False, logged=True, after=after)

    def last_request(self) -> int:
        """The number of the newest request, for `after`."""
        return int(self._ask("GET", "/requests", query={"limit": "0"})["last"])

    def pushes(self) -> list[Row]:
        """The metrics that clients pushed, by who and how many bytes; the broker needs the property
        `shim.client.telemetry`.
        """
        return [Row(push) for push in self._ask("GET", "/telemetry")["pushes"]]

    # the state

    def reset(self) -> None:
        """As it was at the start: state, faults and what was seen; clients are hung up on."""
        self._ask("POST", "/reset")
        self._know(self._settings.passwords)

    def snapshot(self) -> int:
        """Put the state aside; the number is for `restore`."""
        number = int(self._ask("POST", "/snapshots")["id"])
        self._kept_passwords[number] = dict(self._passwords)
        return number

    def restore(self, snapshot: int) -> None:
        """Come back to a snapshot, as often as wanted; clients are hung up on."""
        self._ask("POST", f"/snapshots/{snapshot}/restore")
        self._know(self._kept_passwords[snapshot])

    def state(self) -> Row:
        """Topics, users, ACLs and groups in one."""
        return Row(self._ask("GET", "/state"))

    def health(self) -> Row:
        return Row(self._ask("GET", "/health"))

    def metrics(self) -> str:
        """What a Prometheus would read."""
        return str(self._ask("GET", "/metrics"))

    def stop(self) -> None:
        self._transport.stop()

    def __enter__(self) -> "KafkaBroker":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _ask(
        self, method: str, path: str, body: Any = None, query: Mapping[str, str] | None = None
    ) -> Any:
        return self._transport.call(method, path, query or {}, body)

    def _all(self, what: str, asked: Mapping[str, Any], after: int) -> list[Row]:
        """Every row, asked for page by page."""
        query = {name: _text(value) for name, value in asked.items() if value is not None}
        rows: list[Row] = []
        while True:
            page = self._ask(
                "GET", f"/{what}", query={**query, "after": str(after), "limit": str(_PAGE)}
            )
            rows += (Row(row) for row in page[what])
            if len(page[what]) < _PAGE:
                return rows
            after = page["last"]

    def _know(self, passwords: Mapping[str, str]) -> None:
        self._passwords.clear()
        self._passwords.update(passwords)


def _rules(rules: tuple[Mapping[str, Any], ...], rule: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [with_type(one) for one in (*rules, *([rule] if rule else []))]


def _principal(name: str | None) -> str | None:
    return None if name is None else principal_of(name)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
