"""The context of a case: it prepares a cluster, uses the client, and inspects requests."""

import asyncio
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from kafka_shim.authorizer.model import Acl
from kafka_shim.client.client import CLIENT_ID
from kafka_shim.conformance.cluster import ClusterControl, ClusterUnderTest, ShimCluster
from kafka_shim.conformance.driver import Driver, DriverResponse, ReportedError
from kafka_shim.conformance.evidence import (
    APIS_OF_COMMANDS,
    ObservedExchange,
    find_unproven_result,
    missing_request_text,
)
from kafka_shim.conformance.fixtures import PASSWORD, USER
from kafka_shim.conformance.frames import HistoryWithResponses, ReportedExchange
from kafka_shim.conformance.reported_results import CommandRun
from kafka_shim.conformance.requested_content import SentRequest
from kafka_shim.policy.formats.yaml_rules import parse_rule
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.codec.catalogue import is_flexible
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.observing.request_history import HistoryEntry

if TYPE_CHECKING:
    from kafka_shim.shim.faults.fault import Fault

CLIENT = "client"
TIMEOUT_MS = 6000
DEADLINE_S = 12.0
"""Timeout of a command in the client; the timeout of one request is half of it."""
STORM_REQUESTS_PER_SECOND = 20
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


class UnmetExpectationError(Exception):
    """The client did something else than expected."""

    def __init__(self, expected: str, observed: str) -> None:
        super().__init__(f"expected {expected}; {observed}")
        self.expected = expected
        self.observed = observed


def expect_client_error(response: DriverResponse) -> ReportedError:
    """Return the error that the client reported. Raise UnmetExpectationError if it reported
    none.
    """
    if response.error is None:
        raise UnmetExpectationError("an error", f"the client reported {response}")
    return response.error


class UnsupportedByDriverError(Exception):
    """The client does not support what the case needs."""


class NotExercisedError(Exception):
    """The client did not meet what the case is about; the text says what is missing."""


class CaseContext:
    """The cluster of a case, which is empty at first, and the driver."""

    def __init__(
        self, cluster: ClusterUnderTest, driver: Driver, ca_path: str | None = None
    ) -> None:
        self._cluster = cluster
        self._driver = driver
        self._open_clients: list[str] = []
        self._authority = ca_path
        self._command_runs: list[CommandRun] = []
        self._injected_faults: list[Fault] = []
        self._connections_before = cluster.accepted_connection_count()
        self.last_response: DriverResponse | None = None
        """The driver's last answer to a command of the case."""

    @property
    def release(self) -> str:
        return self._cluster.release

    @property
    def shim_broker(self) -> Broker:
        """The shim; not available to cases that are also played on real brokers."""
        assert isinstance(self._cluster, ShimCluster)
        return self._cluster.broker

    @property
    def cluster_control(self) -> ClusterControl:
        """What moves leaders and stops brokers, for cases that do so."""
        cluster_control = self._cluster.cluster_control
        assert cluster_control is not None
        return cluster_control

    def now_ms(self) -> int:
        """The time of the broker's clock in milliseconds."""
        return self._cluster.now_ms()

    @property
    def runs_on_shim(self) -> bool:
        return isinstance(self._cluster, ShimCluster)

    @property
    def can_inspect_requests(self) -> bool:
        """Return whether the client's requests can be inspected: not those to two real brokers, or
        with TLS.
        """
        return self._frames is not None

    @property
    def _frames(self) -> HistoryWithResponses | None:
        return self._cluster.frames

    async def create_topics(self, *names: str, partitions: int = 1) -> None:
        """Create topics."""
        for name in names:
            await self._cluster.create_topic(name, partitions)

    async def create_empty_groups(self, *names: str, topic: str) -> None:
        """Create groups without members, with an offset committed for partition 0 of the topic."""
        for name in names:
            await self._cluster.commit_offset_zero_of_partition_zero(name, topic)

    async def grant_to_user(self, *rules: Mapping[str, Any]) -> None:
        """Add ACLs for the user; a rule is written as in the state file, without its principal."""
        await self._cluster.create_acls(_parse_user_acls(rules))

    async def revoke_from_user(self, *rules: Mapping[str, Any]) -> None:
        """Remove ACLs that `grant_to_user` added."""
        await self._cluster.delete_acls(_parse_user_acls(rules))

    async def write_record(self, topic: str, value: bytes) -> None:
        """Write a record to partition 0, without the driver."""
        await self._cluster.write_record(topic, value)

    async def acls_of_other_users(self) -> list[Acl]:
        """Return all ACLs except those of the user."""
        return [acl for acl in await self._cluster.acls() if acl.principal != f"User:{USER}"]

    async def wait_for_applied_changes(self) -> None:
        """Wait until the broker has applied what clients changed."""
        await self._cluster.wait_for_applied_changes()

    async def sleep_for_client(self, seconds: float) -> None:
        """Let the client go on for a while.

        It waits in short steps: a machine that stands still in one step uses up only that step.
        """
        for _ in range(_STEPS):
            await asyncio.sleep(seconds / _STEPS)

    async def delete_topic(self, name: str) -> None:
        """Delete a topic."""
        await self._cluster.delete_topic(name)

    def inject_fault(
        self, api: str, *, match: Mapping[str, Any] = {}, times: int = 1, **action: Any
    ) -> "Fault":
        """Inject a fault into the next `times` requests of this API (0: all)."""
        trigger: dict[str, Any] = {"times": times} if times else {"every_time": True}
        return self._add_fault(
            {"match": {"api": api, **match}, "action": action, "trigger": trigger}
        )

    def inject_fault_into_every_api(self, **action: Any) -> None:
        """Inject a fault into every request of every API."""
        self._add_fault({"action": action, "trigger": {"every_time": True}})

    def _add_fault(self, fields: Mapping[str, Any]) -> "Fault":
        fault = self.shim_broker.faults.add(fields)
        self._injected_faults.append(fault)
        return fault

    async def open_client(
        self, settings: Mapping[str, str] = {}, **client_options: Any
    ) -> DriverResponse:
        """Create a client as `try_open_client` does. Raise UnmetExpectationError if that fails."""
        response = await self.try_open_client(settings, **client_options)
        if response.ok is None:
            raise UnmetExpectationError("a client", f"could not open one: {response}")
        return response

    async def try_open_client(
        self,
        settings: Mapping[str, str] = {},
        *,
        client: str = CLIENT,
        login: Mapping[str, Any] | None = PLAIN_LOGIN,
        tls: Mapping[str, Any] | None = None,
        listener: str | None = None,
        omitted_default_settings: Iterable[str] = (),
    ) -> DriverResponse:
        """Create a client, and return the driver's answer, which may be an error.

        Names of settings have `_` in place of `.`. The default `listener` is chosen by the login
        and TLS; `omitted_default_settings` are names of SETTINGS.
        """
        self._check_mechanism(login)
        given_settings = {name.replace("_", "."): value for name, value in settings.items()}
        default_listener = "SSL" if tls is not None else "PLAINTEXT"
        if login is not None:
            default_listener = f"SASL_{default_listener}"
        defaults = {
            name: value for name, value in SETTINGS.items() if name not in omitted_default_settings
        }
        fields = {
            "client": client,
            "servers": self._cluster.bootstrap_servers(listener or default_listener),
            "login": login,
            "settings": defaults | given_settings,
        }
        if tls is not None:
            fields["tls"] = tls
        response = await self._driver.run_command("open", fields, seconds=DEADLINE_S)
        if response.unsupported:
            raise UnsupportedByDriverError("open")
        self.last_response = response
        if response.ok is not None:
            self._open_clients.append(client)
        return response

    def _check_mechanism(self, login: Mapping[str, Any] | None) -> None:
        enabled = self._cluster.enabled_mechanisms
        if login is not None and enabled is not None and login["mechanism"] not in enabled:
            raise NotExercisedError(f"the cluster does not enable {login['mechanism']}")

    @property
    def tls_trust_fields(self) -> Mapping[str, Any]:
        """The `tls` field of a client that trusts the broker's certificate."""
        assert self._authority is not None
        return {"ca": self._authority}

    async def close_clients(self) -> None:
        """Close the clients."""
        while self._open_clients:
            await self._driver.run_command(
                "close", {"client": self._open_clients.pop()}, seconds=DEADLINE_S
            )

    async def run_command(
        self, command: str, *, client: str = CLIENT, **fields: Any
    ) -> DriverResponse:
        """Send a command and return the response.

        Raise UnsupportedByDriverError if the client cannot do it, NotExercisedError if it reports
        success without having sent a request for it.
        """
        command_fields = {"client": client, **fields}
        first_request = max((each.number for each in self.client_requests()), default=-1) + 1
        response = await self._driver.run_command(command, command_fields, seconds=2 * DEADLINE_S)
        if response.unsupported:
            raise UnsupportedByDriverError(command)
        self.last_response = response
        run = CommandRun(command, fields, response, first_request, client)
        self._command_runs.append(run)
        self._check_request_was_sent(run)
        return response

    def _check_request_was_sent(self, run: CommandRun) -> None:
        """Raise NotExercisedError if a command succeeded and the client sent none of its requests.

        Requests that cannot be inspected are not judged.
        """
        if self.can_inspect_requests:
            missing = missing_request_text(run, self._observed_exchanges())
            if missing is not None:
                raise NotExercisedError(missing)

    def check_evidence(self) -> None:
        """Judge a case whose own checks hold.

        Raise NotExercisedError if the client did not connect or no request met an injected fault,
        UnmetExpectationError if a command reported what is not in the responses of brokers.
        """
        if not self.can_inspect_requests:
            return
        exchanges = self._observed_exchanges()
        connections = self._cluster.accepted_connection_count()
        if not exchanges and connections == self._connections_before:
            raise NotExercisedError("the client did not connect")
        if self._injected_faults and not any(fault.fired for fault in self._injected_faults):
            raise NotExercisedError("the client sent no request that the injected fault is for")
        untrue = find_unproven_result(self._command_runs, exchanges)
        if untrue is not None:
            raise UnmetExpectationError(*untrue)

    def _observed_exchanges(self) -> list[ObservedExchange]:
        """Return the exchanges of the client, without those of the suite itself."""
        frames = self._frames
        assert frames is not None
        return [
            ObservedExchange(
                each.number,
                each.api,
                each.errors or (),
                frames.usable_response(each),
                SentRequest(each.api, each.version, each.request_message_or_none()),
            )
            for each in frames
            if each.client_id != CLIENT_ID
        ]

    async def run_successfully(
        self, command: str, *, client: str = CLIENT, **fields: Any
    ) -> dict[str, Any]:
        """Send a command that must succeed; return its `ok`, or that of its only item."""
        response = await self.run_command(command, client=client, **fields)
        if len((response.ok or {}).get("items", {})) == 1:
            response = response.first_item_response()
        if response.ok is None:
            raise UnmetExpectationError(f"{command} succeeds", f"the client reported {response}")
        return response.ok

    async def consume_values(self, *, client: str = CLIENT, **fields: Any) -> None:
        """Have a consumer read. Raise UnmetExpectationError if it reports no value."""
        consumed = await self.run_successfully("consume", client=client, **fields)
        if not consumed["values"]:
            raise UnmetExpectationError(
                "the record that was written", "the client reported no record"
            )

    def client_requests(self, api: ApiKey | None = None) -> list[HistoryEntry]:
        """Return the requests of this case, oldest first; empty if they cannot be inspected."""
        frames = self._frames
        return [] if frames is None else [seen for seen in frames if api in (None, seen.api)]

    def require_request_version(self, api: ApiKey, lowest: int) -> None:
        """Raise NotExercisedError unless the client sent the API in this version or a newer one."""
        if self.can_inspect_requests and not any(
            each.version >= lowest for each in self.client_requests(api)
        ):
            raise NotExercisedError(f"the client sent no {api.wire_name} v{lowest} or later")

    def require_flexible_response(self, command: str, bytes_min: int = 0) -> None:
        """Raise NotExercisedError unless a response to the command could have tagged fields.

        The response has `bytes_min` bytes or more.
        """
        apis = APIS_OF_COMMANDS[command]
        if not any(
            each.api in apis
            and is_flexible(each.api, each.version)
            and (each.response_bytes or 0) >= bytes_min
            for each in self.client_requests()
        ):
            names = " or ".join(api.wire_name for api in apis)
            raise NotExercisedError(f"the client sent no {names} of a flexible version")

    def requests_with_error(self, code: int) -> list[HistoryEntry]:
        """Return the requests whose responses have this error."""
        return [seen for seen in self.client_requests() if seen.errors and code in seen.errors]

    def expect_no_retry_storm(self, code: int) -> None:
        """Raise UnmetExpectationError if a client sent equal requests with this error in a loop."""
        rejected_requests = self.requests_with_error(code)
        for api in {seen.api for seen in rejected_requests}:
            count = _peak_rate_per_second(
                [seen.time_us for seen in rejected_requests if seen.api is api]
            )
            if count > STORM_REQUESTS_PER_SECOND:
                raise UnmetExpectationError(
                    f"at most {STORM_REQUESTS_PER_SECOND} equal requests a second after "
                    f"{error_name_with_code(code)}",
                    f"the client sent {api.wire_name} {count} times",
                )

    def exchanges_for_report(self) -> tuple[ReportedExchange, ...]:
        """Return the frames for the report: those with errors or faults, and the last."""
        frames = self._frames
        if frames is None:
            return ()
        requests = list(frames)
        erroneous = [each for each in requests if each.errors or each.faults or each.errors is None]
        reported_numbers = {
            each.number for each in (erroneous[-FRAMES_SHOWN // 2 :] + requests[-3:])
        }
        return tuple(
            frames.reported_exchange(each) for each in requests if each.number in reported_numbers
        )

    def distinct_responses_except_api_versions(self) -> frozenset[str]:
        """Return all different responses; empty if requests cannot be inspected."""
        return (
            frozenset()
            if self._frames is None
            else self._frames.distinct_responses_except_api_versions()
        )


def _peak_rate_per_second(times_us: Sequence[int]) -> int:
    """Return the largest number of these times, which are in order, that are within a second."""
    return max(
        bisect_left(times_us, start_us + _SECOND_US, at) - at
        for at, start_us in enumerate(times_us)
    )


def _parse_user_acls(rules: Iterable[Mapping[str, Any]]) -> list[Acl]:
    return [acl for rule in rules for acl in parse_rule({"principal": f"User:{USER}", **rule})]


IDEMPOTENT_PRODUCER: Final[Mapping[str, str]] = {"enable_idempotence": "true"}
TRANSACTIONAL_PRODUCER: Final[Mapping[str, str]] = {"transactional_id": "tx", **IDEMPOTENT_PRODUCER}
