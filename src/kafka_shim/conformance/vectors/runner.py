"""Run vectors on a broker: one group after the other, each on a broker prepared for it."""

import base64
import hashlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from kafka_shim.client.client import ClientError
from kafka_shim.client.config import ClientConfig, Login
from kafka_shim.client.version_fields import reset_unsupported_fields
from kafka_shim.conformance.vectors.connection import CLOSED, WAITS, VectorConnection
from kafka_shim.conformance.vectors.deviation import Deviation, first_deviation
from kafka_shim.conformance.vectors.generated_values import fill_generated_values
from kafka_shim.conformance.vectors.permission_fields import (
    APIS_THAT_LIST_EVERYTHING,
    LISTS_IN_ORDER,
    PlainResponses,
    drop_foreign_elements,
    texts_in,
)
from kafka_shim.conformance.vectors.prepared_broker import (
    AclsRemainError,
    PreparedBroker,
    SetupError,
    clean_broker,
    prepare_broker,
    setting_differences,
)
from kafka_shim.conformance.vectors.vector_files import (
    Expectation,
    Request,
    Vector,
    VectorFile,
    VectorGroup,
)
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.responses import nonzero_error_codes
from kafka_shim.protocol.wire_json import uuid_bytes
from kafka_shim.shim.config import SecurityProtocol

_APIS = {api.wire_name: api for api in ApiKey}
_TRANSIENT = frozenset({14, 15, 16, 51})
"""Errors that pass: a coordinator is loading, or a transaction is about to end."""
_LEADER_NOT_AVAILABLE = 5
_ATTEMPTS, _PAUSE_S, _ARRIVAL_S = 40, 0.05, 0.1
_SETTLE_TIMES_OF_TOKENS = 4
"""Brokers with KRaft list a new token later than they apply other changes."""
_READ_ONLY = re.compile(r"Describe|List|Metadata|Fetch|OffsetFetch|FindCoordinator|OffsetForLeader")
_ANONYMOUS = "anonymous"
_GHOST_ID = b"\x33" * 16
"""The id of a topic that never existed."""


class VectorOutcome(Enum):
    """How a vector ended."""

    EQUAL = "equal"
    DIFFERENT = "different"
    NOT_SERVED = "not served"
    """The broker does not list this version of the API."""
    NOT_SET_UP = "not set up"
    """The broker cannot be prepared, or the user cannot log in."""
    AFTER_DIFFERENCE = "after a difference"
    """An earlier vector of the group left another state than on the real broker."""


class VectorResult(msgspec.Struct, frozen=True):
    """The outcome of a vector; `reason` says what differs or is missing.

    `mistake` says in general what the broker does; with `is_decision`, its decision may be wrong.
    `rule` and `case` are those of the group.
    """

    vector: Vector
    outcome: VectorOutcome
    reason: str = ""
    mistake: str = ""
    is_decision: bool = True
    rule: str = ""
    case: str = ""


class BrokerAddresses(msgspec.Struct, frozen=True):
    """Where super users connect without authentication, and where the others log in.

    With `super_user_logs_in`, `admin` does what is otherwise done without authentication.
    """

    super_users: str
    users: str
    mechanism: str = "PLAIN"
    super_user_logs_in: bool = False


ResultListener = Callable[[VectorResult], None]
SETUP_WAIT_S: Final = 10.0
"""Time in which a broker must show what was created or deleted."""
FURTHER_WAIT_S: Final = 0.1
"""The same for a broker that has once not shown it."""


class VectorRunner:
    """Runs files of vectors on one broker; it waits `settle_s` after requests that change it.

    `setting_differences` are the settings in which the broker differs from the files.
    """

    def __init__(
        self,
        addresses: BrokerAddresses,
        *,
        settle_s: float = 0.0,
        wait_s: float = SETUP_WAIT_S,
    ) -> None:
        """Connect as a super user. Raise ClientError if that fails.

        The broker must show once within `wait_s` what was created or deleted; then it is not
        awaited any more.
        """
        self._addresses = addresses
        self._settle_s = settle_s
        self._wait_s = wait_s
        self._remains = ""
        self.setting_differences: dict[str, None] = {}
        self._super_user = self.open_connection(_ANONYMOUS)

    def run_file(self, vectors: VectorFile, on_result: ResultListener) -> None:
        """Run the groups of a file, and report each result."""
        with suppress(ClientError):  # the set-up of the groups will say why
            differences = setting_differences(self._super_user, vectors.broker.settings)
            self.setting_differences |= dict.fromkeys(differences)
        for at, group in enumerate(vectors.groups):
            if at == 0:
                self._clean_broker(group, {})

            def report(result: VectorResult, group: VectorGroup = group) -> None:
                on_result(replace(result, rule=group.rule, case=group.case))

            self._run_group(group, vectors.why, report)

    def _run_group(
        self, group: VectorGroup, checks: Mapping[str, str], on_result: ResultListener
    ) -> None:
        if self._remains:
            self._clean_broker(group, {})
        try:
            prepared = self._prepare_broker(group)
        except SetupError as error:
            self._wait_s = FURTHER_WAIT_S
            for vector in group.vectors:
                on_result(VectorResult(vector, VectorOutcome.NOT_SET_UP, str(error)))
            self._clean_broker(group, {})
            return
        group_run = _GroupRun(self, group, prepared, checks)
        for result in group_run.run_vectors():
            on_result(result)
        self._clean_broker(group, group_run.user_connections)
        group_run.close()

    def _prepare_broker(self, group: VectorGroup) -> PreparedBroker:
        if self._remains:
            raise SetupError(self._remains)
        return prepare_broker(self._super_user, group.given, self._wait_s)

    def _clean_broker(self, group: VectorGroup, users: Mapping[str, VectorConnection]) -> None:
        """Clean the broker; after an error connect again, since it may have closed connections."""
        wait_s = 0.0 if self._remains else self._wait_s
        self._remains = ""
        try:
            clean_broker(self._super_user, group, users, wait_s)
        except AclsRemainError as error:
            self._wait_s = FURTHER_WAIT_S
            self._remains = str(error)
        except (ClientError, SetupError, OSError):
            self._wait_s = FURTHER_WAIT_S
            self._super_user.close()
            self._super_user = self.open_connection(_ANONYMOUS)

    def open_connection(self, user: str) -> VectorConnection:
        """Connect as a user. Raise ClientError if the broker rejects the authentication."""
        if user == _ANONYMOUS and not self._addresses.super_user_logs_in:
            return VectorConnection(*_split_address(self._addresses.super_users))
        user = "admin" if user == _ANONYMOUS else user
        login = Login(self._addresses.mechanism, user, f"{user}-secret")
        config = ClientConfig(SecurityProtocol.SASL_PLAINTEXT, login, timeout_s=4.0)
        return VectorConnection(*_split_address(self._addresses.users), config)

    def serves(self, api: ApiKey, version: int) -> bool:
        low, high = self._super_user.versions.get(api, (1, 0))
        return low <= version <= high

    def sleep_for_settle_time(self, api: str) -> None:
        """Wait until the broker has applied a change that this API has made."""
        is_token = api == ApiKey.CREATE_DELEGATION_TOKEN.wire_name
        time.sleep(self._settle_s * (_SETTLE_TIMES_OF_TOKENS if is_token else 1))

    def close(self) -> None:
        self._super_user.close()


def _split_address(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


class _GroupRun:
    """The vectors of one group on a prepared broker."""

    def __init__(
        self,
        runner: VectorRunner,
        group: VectorGroup,
        prepared: PreparedBroker,
        checks: Mapping[str, str],
    ) -> None:
        self._runner = runner
        self._group = group
        self._ids = dict(prepared.topic_ids)
        self._missing_types = prepared.missing_types
        self._checks = checks
        self._connections: dict[str, VectorConnection] = {}
        self._responses: dict[str, Any] = {}
        self._waiting: dict[str, Vector] = {}
        self._requested_names = set(texts_in([vector.when.request for vector in group.vectors]))
        self._has_other_state = False

    @property
    def user_connections(self) -> Mapping[str, VectorConnection]:
        return {
            name: each for name, each in self._connections.items() if not name.startswith("anon")
        }

    def run_vectors(self) -> Iterator[VectorResult]:
        for vector in self._group.vectors:
            user = vector.when.user
            if user in self._waiting:
                yield self._judge_later_response(self._waiting.pop(user))
            if self._has_other_state:
                yield VectorResult(vector, VectorOutcome.AFTER_DIFFERENCE)
                continue
            result = self._play_vector(vector)
            if result is not None:
                yield result
        while self._waiting:
            yield self._judge_later_response(self._waiting.pop(next(iter(self._waiting))))

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()

    def _play_vector(self, vector: Vector) -> VectorResult | None:
        """Send the request of a vector; return its result unless the response comes later."""
        when = vector.when
        api = _APIS[when.api]
        is_served = self._runner.serves(api, when.version)
        if not is_served and vector.then.outcome != CLOSED:
            self._await_change(vector, is_equal=False)
            return VectorResult(vector, VectorOutcome.NOT_SERVED, f"{when.api} v{when.version}")
        for resource_type in self._missing_types:
            if any(f"on {resource_type.name}" in self._checks[each] for each in vector.why):
                reason = f"no ACLs on {resource_type.name}"
                return VectorResult(vector, VectorOutcome.NOT_SET_UP, reason)
        try:
            connection = self._pooled_connection(when.user)
        except (ClientError, OSError) as error:
            self._await_change(vector, is_equal=False)
            return VectorResult(vector, VectorOutcome.NOT_SET_UP, str(error))
        request = codecs.read_request(api, when.version, base64.b64decode(when.body), 0)
        takes = {
            _attribute_path(path): _labelled_attribute_path(s) for path, s in when.takes.items()
        }
        fill_generated_values(request, takes, self._responses, self._ids)
        reset_unsupported_fields(request, when.version)
        if when.later:
            connection.send(api, when.version, request)
            time.sleep(_ARRIVAL_S)
            self._waiting[when.user] = vector
            return None
        response = connection.call(api, when.version, request)
        for _ in range(_ATTEMPTS):
            if isinstance(response, str) or not _TRANSIENT.intersection(
                nonzero_error_codes(response, when.version)
            ):
                break
            time.sleep(_PAUSE_S)
            response = connection.call(api, when.version, request)
        return self._judge_response(vector, response)

    def _judge_later_response(self, vector: Vector) -> VectorResult:
        return self._judge_response(vector, self._connections[vector.when.user].receive())

    def _judge_response(self, vector: Vector, response: Any) -> VectorResult:
        if response in (CLOSED, WAITS):
            self._connections.pop(vector.when.user).close()
        if not isinstance(response, str):
            self._store_response(vector, response)
        deviation = self._deviation(vector, response)
        self._await_change(vector, is_equal=deviation is None)
        if deviation is not None:
            mistake = f"{vector.when.api} {deviation.mistake}"
            return VectorResult(
                vector,
                VectorOutcome.DIFFERENT,
                deviation.text,
                mistake,
                deviation.is_decision,
            )
        return VectorResult(vector, VectorOutcome.EQUAL)

    def _store_response(self, vector: Vector, response: Any) -> None:
        if vector.label:
            self._responses[vector.label] = response
        if vector.when.api == ApiKey.CREATE_TOPICS.wire_name:
            for topic in response.topics:
                if any(topic.topic_id):
                    self._ids[_placeholder_topic_id(topic.name)] = topic.topic_id

    def _deviation(self, vector: Vector, response: Any) -> Deviation | None:
        then = vector.then
        if isinstance(response, str) or then.outcome:
            outcome = response if isinstance(response, str) else "a response"
            expected = then.outcome or "a response"
            text = f"{outcome}, expected {expected}"
            return None if outcome == expected else Deviation(text, f"has the outcome {text}")
        api = _APIS[vector.when.api]
        plain = PlainResponses(self._topic_name).message(response, vector.when.version)
        if api in APIS_THAT_LIST_EVERYTHING:
            plain = drop_foreign_elements(plain, self._group.given.prefix, self._requested_names)
        return first_deviation(then.response, plain, LISTS_IN_ORDER.get(api))

    def _topic_name(self, topic_id: bytes) -> str:
        """Return the name of a topic by its id; ids of requests that stand for none stay as hex."""
        names = {uuid_bytes(text): name for name, text in self._group.given.topics.items()}
        for in_file, on_broker in self._ids.items():
            if on_broker == topic_id:
                return names.get(in_file) or self._created_topic_name(in_file)
        if topic_id == _GHOST_ID:
            return "<ghost>"
        if not any(topic_id):
            return ""
        return topic_id.hex() if len(set(topic_id)) == 1 else "<some>"

    def _created_topic_name(self, id_in_file: bytes) -> str:
        return next(
            (name for name in self._requested_names if _placeholder_topic_id(name) == id_in_file),
            "<some>",
        )

    def _pooled_connection(self, name: str) -> VectorConnection:
        if name not in self._connections:
            self._connections[name] = self._runner.open_connection(name.partition("/")[0])
        return self._connections[name]

    def _await_change(self, vector: Vector, *, is_equal: bool) -> None:
        """Wait for a change to be applied; note if it was not made as on the real broker."""
        creates_topic = _LEADER_NOT_AVAILABLE in vector.then.error_codes  # by Metadata
        if _is_read_only(vector.when) and not creates_topic:
            return
        if is_equal:
            self._runner.sleep_for_settle_time(vector.when.api)
        elif _expects_any_success(vector.then):
            self._has_other_state = True


def _is_read_only(request: Request) -> bool:
    """Return whether a request reads, or takes a producer id that no transaction has."""
    takes_id = request.api == ApiKey.INIT_PRODUCER_ID.wire_name
    return bool(_READ_ONLY.match(request.api)) or (
        takes_id and "transactionalId" not in request.request
    )


def _expects_any_success(then: Expectation) -> bool:
    """Return whether a part of the request succeeds on the real broker."""
    return not then.error_codes or 0 in _error_codes_in_json(then.response)


def _error_codes_in_json(value: Any) -> Iterator[int]:
    if isinstance(value, dict):
        for name, content in value.items():
            if name.endswith("rrorCode"):
                yield content
            else:
                yield from _error_codes_in_json(content)
    elif isinstance(value, list):
        for element in value:
            yield from _error_codes_in_json(element)


def _placeholder_topic_id(name: str) -> bytes:
    """Return the id that stands in the files for a topic of this name."""
    return hashlib.sha256(name.encode()).digest()[:16]


def _attribute_path(path: str) -> str:
    """Return a path with the names of attributes: `topic_data.0` for `topicData.0`."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", path).lower()


def _labelled_attribute_path(source: str) -> str:
    label, colon, path = source.partition(":")
    return f"{label}{colon}{_attribute_path(path)}"
