"""A running broker as a test sees it."""

from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, NamedTuple, TypedDict, TypeVar, Unpack

from kafka_shim.testing.client_configs import (
    CertificateFiles,
    ClientSecurity,
    Login,
    client_config,
)
from kafka_shim.testing.faults import Faults
from kafka_shim.testing.names import ApiName, OperationName, ResourceTypeName
from kafka_shim.testing.resources import Acls, Clock, Groups, Nodes, Topics, Users
from kafka_shim.testing.row import Row
from kafka_shim.testing.rows import (
    AuthenticationRow,
    ClusterStateRow,
    DecisionRow,
    HealthRow,
    ProducerRow,
    RequestRow,
    TelemetryPushRow,
    TransactionRow,
    WhoCanRow,
)
from kafka_shim.testing.settings import Settings
from kafka_shim.testing.setup_warnings import UnmetFaultError, warn_at_caller
from kafka_shim.testing.transport import BrokerError, Transport
from kafka_shim.testing.unknown_name import unknown_name_message

_PAGE = 1000
_SETUP_PATHS = ("/acls", "/faults")
_NUMBER_MAX = 2**31 - 1
_PASSWORD_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_AnyRow = TypeVar("_AnyRow", bound=Row)


class DecisionFilters(TypedDict, total=False):
    """Which decisions; `logged`: those that Kafka's audit log has, or only the others."""

    allowed: bool | None
    logged: bool | None
    operation: OperationName | None
    resource_type: ResourceTypeName | None
    resource_name: str | None
    client_id: str | None


class DeniedResource(TypedDict, total=False):
    """One of these, as in an ACL."""

    topic: str
    group: str
    cluster: str | None
    transactional_id: str
    delegation_token: str
    user: str


class DenialReport(NamedTuple):
    """Titles with texts, and the numbers of the last request and authentication."""

    sections: list[tuple[str, str]]
    last: int
    last_authentication: int


class KafkaBroker:
    """A running broker, whose state tests read and change, from any thread."""

    def __init__(self, transport: Transport, settings: Settings) -> None:
        self._transport = transport
        self._settings = settings
        self._passwords = settings.initial_passwords()
        self._snapshot_passwords: dict[int, dict[str, str]] = {}
        self._has_setup = settings.has_state_file
        """Whether anything was set up since the last check that can turn out to have no effect."""
        self._reported: set[str] = set()
        self.acls = Acls(self._call_control_api)
        self.topics = Topics(self._call_control_api)
        self.groups = Groups(self._call_control_api)
        self.users = Users(self._call_control_api, self._passwords)
        self.faults = Faults(self._call_control_api)
        self.clock = Clock(self._call_control_api)
        self.nodes = Nodes(self._call_control_api)

    # how clients get there

    @property
    def bootstrap_servers(self) -> str:
        """The bootstrap servers of the first listener, as `host:port,...`; by default PLAINTEXT."""
        return ",".join(next(iter(self._transport.listeners.values())))

    @property
    def listeners(self) -> dict[str, str]:
        """The bootstrap servers by listener name."""
        addresses_by_listener = self._transport.listeners
        return {name: ",".join(addresses) for name, addresses in addresses_by_listener.items()}

    def sasl_mechanisms(self) -> dict[str, list[str]]:
        """Return the enabled SASL mechanisms by listener name; an empty list without SASL."""
        rows = self._call_control_api("GET", "/listeners")["listeners"]
        return {row["name"]: row["sasl_mechanisms"] for row in rows}

    @property
    def control_url(self) -> str | None:
        """The URL of the control API; None for a broker in this process."""
        return self._transport.control_url

    def config(
        self,
        user: str | None = None,
        style: str = "confluent-kafka",
        mechanism: str | None = None,
        listener: str | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """Return the settings with which a client authenticates as `user`. Create a missing user.

        `style` selects the names of settings: `confluent-kafka`, `kafka-python`, `aiokafka` or
        `java`. The listener uses SASL if there is a user, and TLS if the broker
        has certificates. `mechanism` is PLAIN by default, or the first one with passwords
        that is enabled. `more` is added to the result. Raise ValueError for a mechanism that is not
        enabled.
        """
        name = self._choose_listener(user) if listener is None else listener
        if name not in self.listeners:
            raise BrokerError(f"unknown listener {name}; expected {', '.join(self.listeners)}")
        protocol = self._settings.security_protocol_of(name)
        login: Login | None = None
        if user is not None:
            if not protocol.startswith("SASL_"):
                raise BrokerError(
                    f"user {user} cannot log in on listener {name}, which is {protocol}"
                )
            mechanism = self._choose_mechanism(name, mechanism)
            login = (mechanism, user, self._passwords.get(user) or self.users.add(user))
        security = ClientSecurity(protocol, login, self._certificates(name, protocol))
        return client_config(style, self.listeners[name], security) | more

    def _choose_mechanism(self, listener: str, mechanism: str | None) -> str:
        """Return an enabled mechanism; raise ValueError for another one, BrokerError if none of
        those that are enabled takes a password.
        """
        enabled = self.sasl_mechanisms()[listener]
        if mechanism is None:
            by_password = [name for name in _PASSWORD_MECHANISMS if name in enabled]
            if not by_password:
                raise BrokerError(
                    f"no enabled mechanism takes a password: {', '.join(enabled)}; add another one"
                    " to sasl.enabled.mechanisms"
                )
            return by_password[0]
        if mechanism not in enabled:
            raise ValueError(unknown_name_message("or disabled mechanism", mechanism, enabled))
        return mechanism

    def _choose_listener(self, user: str | None) -> str:
        """Return the first listener that fits. Raise BrokerError if the broker has none."""
        protocols = self._settings.preferred_security_protocols(user)
        for protocol in protocols:
            for name in self.listeners:
                if self._settings.security_protocol_of(name) == protocol:
                    return name
        available = ", ".join(self.listeners)
        raise BrokerError(f"the broker has no listener {' or '.join(protocols)}, only {available}")

    def _certificates(self, listener: str, protocol: str) -> CertificateFiles | None:
        folder = self._settings.certificate_folder(self._transport.folder)
        if folder is None or not protocol.endswith("SSL"):
            return None
        accepts_client_certificate = self._settings.accepts_client_certificate(listener)
        return CertificateFiles(
            folder / "ca.pem", folder / "client.pem" if accepts_client_certificate else None
        )

    # what happened

    def requests(
        self, api: ApiName | None = None, principal: str | None = None, client_id: str | None = None
    ) -> list[RequestRow]:
        """Return the requests since the last reset, oldest first, with Kafka's field names."""
        filters = {
            "api": api,
            "principal": principal,
            "client_id": client_id,
        }
        return self._fetch_all_pages(RequestRow, "requests", filters, 0)

    def decisions(
        self,
        api: ApiName | None = None,
        principal: str | None = None,
        *,
        after: int = 0,
        **filters: Unpack[DecisionFilters],
    ) -> list[DecisionRow]:
        """Return the decisions; `after`: only of requests with a greater number."""
        query = {"api": api, "principal": principal, **filters}
        return self._fetch_all_pages(DecisionRow, "decisions", query, after)

    def denials(self, *, after: int = 0) -> list[DecisionRow]:
        """Return the denials that Kafka's audit log would have; equal ones once with their `count`:
        clients repeat denied requests.
        """
        query = {"after": str(after)}
        rows = self._call_control_api("GET", "/denials", query=query)["denials"]
        return [DecisionRow(row) for row in rows]

    def denial_report(self, *, after: int = 0, after_authentication: int = 0) -> DenialReport:
        """Return what a failed test should show."""
        query = {"after": str(after), "after_authentication": str(after_authentication)}
        found = self._call_control_api("GET", "/denials", query=query)
        return DenialReport(
            [(section["title"], section["text"]) for section in found["report"]],
            found["last"],
            found["last_authentication"],
        )

    def assert_denied(
        self, principal: str, operation: OperationName, **resource: Unpack[DeniedResource]
    ) -> None:
        """Check that the principal was denied this, at least once since the last reset:
        `assert_denied("alice", "Write", topic="orders")`.

        Denials that Kafka does not log count, too. Raise AssertionError with the denials that there
        were.
        """
        query = {
            "principal": principal,
            "operation": operation,
            "resource": _resource_text(resource),
        }
        check = self._call_control_api("GET", "/denials/check", query=query)
        if not check["denied"]:
            raise AssertionError(check["text"])

    def authentications(self, *, after: int = 0) -> list[AuthenticationRow]:
        """Return the authentications by SASL, also failed ones with their `error`; `after`: only
        those with a greater number.
        """
        rows = self._call_control_api("GET", "/authentications", query={"after": str(after)})
        return [AuthenticationRow(row) for row in rows["authentications"]]

    def last_authentication(self) -> int:
        """Return the number of the newest authentication, for `after`."""
        return int(
            self._call_control_api("GET", "/authentications", query={"after": str(_NUMBER_MAX)})[
                "last"
            ]
        )

    def last_request(self) -> int:
        """Return the number of the newest request, for `after`."""
        return int(self._call_control_api("GET", "/requests", query={"limit": "0"})["last"])

    def telemetry_pushes(self) -> list[TelemetryPushRow]:
        """Return the metrics that clients pushed, with client and bytes; the broker needs the
        property `shim.client.telemetry`.
        """
        return [
            TelemetryPushRow(push) for push in self._call_control_api("GET", "/telemetry")["pushes"]
        ]

    # the state

    def reset(self, *, new_ports: bool = False) -> None:
        """Check the set-up, restore the initial state, and remove faults, requests and decisions;
        clients are disconnected. With `new_ports` the addresses change, so that these clients
        cannot come back.
        """
        try:
            self.check_setup()
        finally:
            query = {"new_ports": "true"} if new_ports else {}
            self._transport.call("POST", "/reset", query, None)
            if new_ports:
                rows = self._transport.call("GET", "/listeners", {}, None)["listeners"]
                self._transport.listeners = {
                    row["name"]: row["bootstrap_servers"].split(",") for row in rows
                }
            self._reported.clear()
            self._replace_passwords(self._settings.initial_passwords())

    def snapshot(self) -> int:
        """Save the state, and return its number for `restore`."""
        number = int(self._call_control_api("POST", "/snapshots")["id"])
        self._snapshot_passwords[number] = dict(self._passwords)
        return number

    def restore(self, snapshot: int) -> None:
        """Restore a snapshot, also repeatedly, and disconnect all clients."""
        self._call_control_api("POST", f"/snapshots/{snapshot}/restore")
        self._replace_passwords(self._snapshot_passwords[snapshot])

    def state(self) -> ClusterStateRow:
        """Return topics, users, ACLs and groups."""
        return ClusterStateRow(self._call_control_api("GET", "/state"))

    def transactions(self) -> list[TransactionRow]:
        """Return the transactional ids with their states and partitions."""
        rows = self._call_control_api("GET", "/transactions")["transactions"]
        return [TransactionRow(row) for row in rows]

    def producers(self) -> list[ProducerRow]:
        """Return the producer ids of each partition."""
        rows = self._call_control_api("GET", "/transactions")["producers"]
        return [ProducerRow(row) for row in rows]

    def who_can(
        self,
        operation: OperationName,
        resource_name: str,
        resource_type: ResourceTypeName = "TOPIC",
    ) -> WhoCanRow:
        """Return the principals that are allowed an operation on a resource, and by which ACLs:
        `who_can("Write", "orders")`.
        """
        query = {
            "operation": operation,
            "resource_type": resource_type,
            "resource_name": resource_name,
        }
        return WhoCanRow(self._call_control_api("GET", "/who-can", query=query))

    def matrix(self, resource_type: ResourceTypeName = "TOPIC") -> dict[str, dict[str, list[str]]]:
        """Return the operations that are allowed, by principal and by resource. Both are those that
        ACLs or requests name.
        """
        allowed: dict[str, dict[str, list[str]]] = {}
        at = {"first_principal": 0, "first_resource": 0}
        while True:
            query = {"resource_type": resource_type} | {name: str(n) for name, n in at.items()}
            part = self._call_control_api("GET", "/matrix", query=query)
            resources, rows = part["resources"], part["rows"]
            width = max((len(row["allowed"]) for row in rows), default=0)
            for row in rows:
                names = resources[at["first_resource"] :]
                found = allowed.setdefault(row["principal"], {})
                found.update(zip(names, row["allowed"], strict=False))
            at["first_resource"] += width
            if not width or at["first_resource"] >= len(resources):
                at = {"first_principal": at["first_principal"] + len(rows), "first_resource": 0}
                if not rows or at["first_principal"] >= len(part["principals"]):
                    return allowed

    def health(self) -> HealthRow:
        return HealthRow(self._call_control_api("GET", "/health"))

    def metrics(self) -> str:
        """Return the metrics in the format of Prometheus."""
        return str(self._call_control_api("GET", "/metrics"))

    def check_setup(self) -> None:
        """Warn about what was set up and has had no effect: faults that never fired, ACLs of
        unknown users. Raise UnmetFaultError if a fault with `must_fire=True` never fired.
        """
        warn_at_caller(self.check_faults().values())

    def check_faults(self) -> dict[str, str]:
        """Check the faults only; return warnings about ACLs by unknown principals."""
        if not self._has_setup:
            return {}
        self._has_setup = False
        unknown: dict[str, str] = self._call_control_api("GET", "/warnings")["unknown_users"]
        return unknown

    @property
    def user_names(self) -> set[str]:
        """The users whose passwords are known here."""
        return set(self._passwords)

    def stop(self) -> None:
        """Check the set-up, and end the broker; a second time does nothing."""
        try:
            with suppress(BrokerError):  # it has been stopped, or does not answer
                self.check_setup()
        finally:
            self._transport.stop()

    def __enter__(self) -> "KafkaBroker":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:  # which says more than what had no effect because of it
            self._has_setup = False
        self.stop()

    def _call_control_api(
        self, method: str, path: str, body: Any = None, query: Mapping[str, str] | None = None
    ) -> Any:
        self._has_setup |= method == "POST" and path in _SETUP_PATHS
        result = self._transport.call(method, path, query or {}, body)
        if isinstance(result, dict):
            self._report_setup(result)
        return result

    def _report_setup(self, result: Mapping[str, Any]) -> None:
        """Warn once about each thing without effect; raise UnmetFaultError about faults that had to
        fire.
        """
        warnings, failures = result.get("warnings", ()), result.get("failures", ())
        new = [text for text in warnings if text not in self._reported]
        self._reported.update(warnings)
        warn_at_caller(new)
        if failures:
            raise UnmetFaultError("\n".join(failures))

    def _fetch_all_pages(
        self, kind: type[_AnyRow], collection: str, filters: Mapping[str, Any], after: int
    ) -> list[_AnyRow]:
        """Return all rows, requested in pages."""
        query = {name: _query_text(value) for name, value in filters.items() if value is not None}
        rows: list[_AnyRow] = []
        while True:
            page = self._call_control_api(
                "GET", f"/{collection}", query={**query, "after": str(after), "limit": str(_PAGE)}
            )
            rows += (kind(row) for row in page[collection])
            if len(page[collection]) < _PAGE:
                return rows
            after = page["last"]

    def _replace_passwords(self, passwords: Mapping[str, str]) -> None:
        self._passwords.clear()
        self._passwords.update(passwords)


def _resource_text(resource: DeniedResource) -> str:
    """Return a text such as `topic:orders`. Raise TypeError if it is not exactly one."""
    known = DeniedResource.__annotations__
    for key in resource:
        if key not in known:
            raise TypeError(unknown_name_message("keyword", key, known))
    if len(resource) != 1:
        raise TypeError(f"expected one of {', '.join(known)}, as in topic='orders'")
    [(key, name)] = resource.items()
    return "cluster" if key == "cluster" else f"{key}:{name}"


def _query_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
