"""Asks the target again after retriable errors and lost connections, as clients do.

If a broker of the target has ended, its partitions and groups have other leaders and coordinators,
or the same ones later.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from kafka_shim.protocol.code_names import error_name
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.message_frames import write_response_frame
from kafka_shim.trace_format.entries import decode_response
from kafka_shim.traces.identities.message_fields import NOT_READY_ERRORS
from kafka_shim.traces.replay.error_codes import error_code_of
from kafka_shim.traces.replay.recorded_to_target_mapping import remove_leader_epochs
from kafka_shim.traces.replay.replay_connection import ReplayConnection
from kafka_shim.traces.replay.request_parts import (
    COORDINATED_LISTS,
    LEADER_APIS,
    coordinated_keys,
    coordinated_rows,
    coordinator_key,
    merge_responses,
    request_partitions,
    response_partitions,
    select_keys,
    select_partitions,
)
from kafka_shim.traces.replay.routing import RequestRouter
from kafka_shim.traces.replay.target_connection import (
    Address,
    ConnectionClosedError,
    ConnectionLostError,
    TargetConnector,
    UnreachableError,
)

RETRY_S = 0.1
"""Before a target that is not ready yet is asked again."""
PERSISTENT_S = 0.3
"""How long it is asked again for what it was not ready for in the whole time before."""

LEADER_ERRORS = frozenset(
    {
        ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE, ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.LISTENER_NOT_FOUND, ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.NOT_ENOUGH_REPLICAS,
    }
)  # fmt: skip
"""The partition is led elsewhere, or not yet."""
UNKNOWN_TOPIC_ERRORS = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
    }
)  # fmt: skip
"""Retriable only for a moment after a topic was created: not each broker has it yet."""
_OTHER_EPOCHS = frozenset({ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.UNKNOWN_LEADER_EPOCH})
COORDINATOR_ERRORS = NOT_READY_ERRORS | {ErrorCode.UNSTABLE_OFFSET_COMMIT}
TEMPORARY_ERRORS = (
    LEADER_ERRORS
    | COORDINATOR_ERRORS
    | {ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ErrorCode.INVALID_FETCH_SESSION_EPOCH}
)
"""Errors that say nothing about what the client may do; put aside if the recording has them."""

Key = tuple[Any, Any] | None
"""Topic and partition, or type and name of a coordinator; None for a whole response."""


class RoutedRequest(NamedTuple):
    """A request with the target's ids, and the broker for what is for no known one."""

    listener: str
    default: Address
    header: RequestHeader
    message: Any


class RetryLimits:
    """Until when the target may still apply changes of topics late."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self.settles_until = 0.0
        self.leader_epochs_differ = False
        """Whether the target has rejected the epoch of a recorded leader."""

    @property
    def is_settling(self) -> bool:
        return time.monotonic() < self.settles_until


class ErrorRetries:
    """Sends the parts of requests again that the target rejected with a retriable error."""

    def __init__(self, router: RequestRouter, limits: RetryLimits) -> None:
        self._router = router
        self.limits = limits
        self._exhausted: set[Key] = set()
        """For what the target had an error for as long as a request may take."""
        self.counts: Counter[str] = Counter()
        """How often the target was asked again, by the name of the error."""

    def complete(
        self, connection: ReplayConnection, request: RoutedRequest, frame: bytes, recorded: bytes
    ) -> bytes:
        """Return the response once it has no retriable error that the recorded one lacks.

        Raise ConnectionLostError if the target does not respond in time.
        """
        start, deadline = time.monotonic(), 0.0
        header, message = request.header, request.message
        recorded_response = _decode(header, recorded)
        recorded_codes = (
            set()
            if recorded_response is None
            else {*error_codes(header.api_key, message, recorded_response).values()}
        )
        while True:
            response = _decode(header, frame)
            failed = {
                key: code
                for key, code in self._retriable_codes(header.api_key, message, response)
                if code not in recorded_codes
            }
            if not deadline:
                is_exhausted = self._exhausted.issuperset(failed)
                deadline = start + (PERSISTENT_S if is_exhausted else self.limits.timeout_s)
            if not failed:
                return frame
            if time.monotonic() > deadline:
                self._exhausted.update(failed)
                return frame
            for code in failed.values():
                self.counts[error_name(code)] += 1
            time.sleep(RETRY_S)
            try:
                self.refresh(connection, request, failed)
                again = _select_parts(header.api_key, message, set(failed))
                if not _OTHER_EPOCHS.isdisjoint(failed.values()):
                    self.limits.leader_epochs_differ |= remove_leader_epochs(again)
                parts = self._router.parts(request.listener, request.default, header, again)
                responses = [
                    _decode(header, connection.target_connection(address).exchange(part))
                    for address, part in parts
                ]
            except (ConnectionClosedError, UnreachableError):
                continue
            if None in responses:
                return frame
            if None not in failed:
                responses.insert(0, response)
            frame = write_response_frame(header, merge_responses(header.api_key, responses))

    def _retriable_codes(
        self, api_key: int, message: Any, response: Any
    ) -> Iterator[tuple[Key, int]]:
        if response is None:
            return
        for key, code in error_codes(api_key, message, response).items():
            if api_key in LEADER_APIS:
                is_retriable = code in LEADER_ERRORS or (
                    code in UNKNOWN_TOPIC_ERRORS and self.limits.is_settling
                )
            else:
                is_retriable = code in COORDINATOR_ERRORS
            if is_retriable:
                yield key, code

    def refresh(
        self, connection: ReplayConnection, request: RoutedRequest, failed: Iterable[Key]
    ) -> None:
        """Ask for the leaders or coordinators of these keys again.

        Raise ConnectionLostError if a connection ends.
        """
        api_key, listener = request.header.api_key, request.listener
        if api_key == ApiKey.FIND_COORDINATOR:
            return
        asked = connection.target_connection(request.default)
        if api_key in LEADER_APIS:
            self._router.ask_leaders(asked, listener, (key[0] for key in failed if key))
            return
        own_key = coordinator_key(api_key, request.message)
        keys = [key or own_key for key in failed]
        if not self._router.topology.is_known(listener):
            self._router.ask_leaders(asked, listener, ())
        self._router.ask_coordinators(asked, listener, (key for key in keys if key))


def keys_of_request(api_key: int, message: Any) -> Iterator[Key]:
    """Yield what a request is for, as in `error_codes`."""
    if api_key in LEADER_APIS:
        for topic, number, _ in request_partitions(api_key, message):
            yield topic, number
    elif api_key in COORDINATED_LISTS and coordinator_key(api_key, message) is None:
        yield from coordinated_keys(api_key, message)
    else:
        yield None


def error_codes(api_key: int, message: Any, response: Any) -> dict[Key, int]:
    """Return the error codes in a response by what they are for."""
    if api_key in LEADER_APIS:
        return {
            (topic, number): row.error_code
            for topic, number, row in response_partitions(api_key, response)
        }
    if api_key in COORDINATED_LISTS and coordinator_key(api_key, message) is None:
        rows = coordinated_rows(api_key, response)
        return {key: row.error_code for key, row in rows}
    return {None: error_code_of(api_key, response)}


def _select_parts(api_key: int, message: Any, keys: set[Key]) -> Any:
    if None in keys:
        return message
    if api_key in LEADER_APIS:
        return select_partitions(api_key, message, keys)
    return select_keys(api_key, message, keys)


def _decode(header: RequestHeader, frame: bytes) -> Any:
    return decode_response(header.api_key, header.api_version, frame)


_CLOSED_MAX = 3
"""How often a broker may close a connection over one request."""
LOST = "connections were lost"


class Attempts:
    """The attempts to get one request answered."""

    def __init__(
        self,
        retries: ErrorRetries,
        connector: TargetConnector,
        connection: ReplayConnection,
        refresh: Callable[[], None],
    ) -> None:
        """`refresh` asks the target for its brokers, leaders and coordinators."""
        self._retries = retries
        self._connector = connector
        self._connection = connection
        self._refresh = refresh
        self._deadline = 0.0
        self._closed = 0

    def wait(self, error: ConnectionLostError) -> None:
        """Wait for the next attempt after this error.

        Raise the error if there is none: the request is to blame, or the target does not come back.
        """
        limits = self._retries.limits
        self._deadline = self._deadline or time.monotonic() + limits.timeout_s
        is_over = time.monotonic() > self._deadline
        if isinstance(error, ConnectionClosedError):
            self._closed += 1
            is_over |= self._connection.is_rejected or self._closed >= _CLOSED_MAX
            self._connection.is_rejected |= is_over
        elif isinstance(error, UnreachableError):
            given_up = self._connector.given_up
            if is_over:
                given_up.add(error.address)
            is_over |= error.address in given_up or not self._connector.has_connected
        else:
            is_over = True
        if is_over:
            raise error
        self._retries.counts[LOST] += 1
        limits.settles_until = time.monotonic() + limits.timeout_s
        time.sleep(RETRY_S)
        self._refresh()

    def end(self) -> None:
        """Note that the target has answered."""
        self._connection.is_rejected = False
