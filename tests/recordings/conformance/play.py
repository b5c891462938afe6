"""Plays scenarios against a broker in this process or behind a socket."""

from functools import partial
from typing import Any, Final

import msgspec

from kafka_shim.client.version_fields import reset_unsupported_fields
from kafka_shim.conformance.vectors.generated_values import fill_generated_values
from kafka_shim.protocol.codec.catalogue import message_classes_by_name
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.create_topics import CreateTopicsResponse
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.oracle.real_kafka import MODES
from tests.recordings.codes import has_code
from tests.recordings.conformance.cleaning import clean_up
from tests.recordings.conformance.comparable import Comparing
from tests.recordings.conformance.deviations import NEVER_ANSWERED, has_null_records
from tests.recordings.conformance.scenario import Scenario, Step, topic_id_of
from tests.recordings.conformance.symbols import NO_ID, Symbols
from tests.recordings.peers.in_process import InProcess
from tests.recordings.peers.peer import CLOSED, PATIENCE_MS, WAITS, Peer, ask, ask_root
from tests.recordings.peers.socket_peer import SocketPeer
from tests.recordings.peers.topics import create, until
from tests.support.acl_filters import described_acls

CLIENT_ID: Final = "play"
"""The client id, which appears in member ids and descriptions of groups."""

API_OF: Final = {key.wire_name: key for key in ApiKey}
PARTITIONS: Final = 2
COMMITTED: Final = 3
"""The number of a scenario's topics for which each of its groups has a committed offset."""

RULES: Final = "rules"
"""The suffix of recordings of rules."""

SUPER_USERS_OF_RULES: Final = (
    *("User:ANONYMOUS", "User:admin"),
    *("User:CAROL", "User:alic", "Group:alice", "User:*"),
)
"""Super users, and names that are similar to users who are none."""

TRANSIENT: Final = frozenset({14, 15, 16, 51})
"""Temporary errors, after which a request is retried: a coordinator is loading or not available,
or a transaction is about to end.
"""

NOT_LEADER: Final = 6
TRANSIENT_BY_API: Final = {
    key.wire_name: TRANSIENT | {NOT_LEADER}
    for key in (ApiKey.ADD_RAFT_VOTER, ApiKey.REMOVE_RAFT_VOTER)
}
"""A real controller resigns after an unexpected error, and is elected again."""

RETRIES: Final = 40
LOOKUP_RETRIES: Final = 4
BRIEF_PATIENCE_MS: Final = 1_500
"""Time to wait for a response of an API that real brokers now and then never answer."""

RUN_STEPS_MAX: Final = 40
"""The number of requests that are sent at the same time."""

INDEPENDENT: Final = frozenset(
    {
        *(ApiKey.FETCH, ApiKey.LIST_OFFSETS, ApiKey.OFFSET_FETCH, ApiKey.OFFSET_FOR_LEADER_EPOCH),
        *(ApiKey.API_VERSIONS, ApiKey.DESCRIBE_ACLS, ApiKey.DESCRIBE_CONFIGS),
        *(ApiKey.DESCRIBE_LOG_DIRS, ApiKey.DESCRIBE_CLUSTER, ApiKey.DESCRIBE_QUORUM),
        *(ApiKey.DESCRIBE_PRODUCERS, ApiKey.DESCRIBE_TRANSACTIONS, ApiKey.LIST_TRANSACTIONS),
        *(ApiKey.DESCRIBE_CLIENT_QUOTAS, ApiKey.DESCRIBE_DELEGATION_TOKEN, ApiKey.LIST_GROUPS),
        *(ApiKey.DESCRIBE_GROUPS, ApiKey.DESCRIBE_TOPIC_PARTITIONS, ApiKey.FIND_COORDINATOR),
        *(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, ApiKey.LIST_PARTITION_REASSIGNMENTS),
        *(ApiKey.LIST_CONFIG_RESOURCES, ApiKey.HEARTBEAT, ApiKey.SYNC_GROUP, ApiKey.LEAVE_GROUP),
        *(ApiKey.ADD_RAFT_VOTER, ApiKey.REMOVE_RAFT_VOTER, ApiKey.OFFSET_COMMIT),
        *(ApiKey.CONSUMER_GROUP_DESCRIBE, ApiKey.SHARE_GROUP_DESCRIBE, ApiKey.OFFSET_DELETE),
        *(ApiKey.STREAMS_GROUP_DESCRIBE, ApiKey.DELETE_RECORDS, ApiKey.ALTER_REPLICA_LOG_DIRS),
        *(ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE, ApiKey.UPDATE_FEATURES),
        *(ApiKey.TXN_OFFSET_COMMIT, ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.ELECT_LEADERS),
    }
)
"""APIs whose requests a broker handles one after the other, without waiting for other threads."""

ARRIVING_MS: Final = 100
"""Time for a request to arrive at the broker if its response comes later."""


class Play:
    """A scenario on one peer."""

    def __init__(self, scenario: Scenario, peer: Peer) -> None:
        self._scenario = scenario
        self._peer = peer
        self._ids = _set_up(scenario, peer)
        self._responses: dict[str, Any] = {}
        self._later: dict[str, int] = {}
        self._found: dict[int, Any] = {}
        sent = _texts([step.request for step in scenario.steps])
        known = [name for name in scenario.topics if topic_id_of(name) in self._ids]
        self._symbols = Symbols({name: self._ids[topic_id_of(name)] for name in known}, sent)

    def run(self) -> list[Any]:
        """Play the scenario; return the comparable response to each step."""
        for number, step in enumerate(self._scenario.steps):
            if number in self._found:
                continue
            if step.user in self._later:
                self._collect(step.user)
            if step.after_ms:
                self._peer.pause(step.after_ms)
            if step.token and not self._use_token(step):
                self._found[number] = {CLOSED: True}
                continue
            request = self._request(step)
            run = self._independent_run(number)
            if isinstance(self._peer, SocketPeer) and len(run) > 1:
                self._play_run(self._peer, run)
            elif step.later:
                self._peer.send(step.user, API_OF[step.api], step.version, request)
                self._peer.pause(ARRIVING_MS)
                self._later[step.user] = number
            else:
                response = self._settled(step, request)
                self._found[number] = self._plain(step, response)
                if has_null_records(step) and response not in (CLOSED, WAITS):
                    self._peer.hang_up(step.user)  # there may be a second response
        for user in list(self._later):
            self._collect(user)
        return [self._found[number] for number in range(len(self._scenario.steps))]

    def _independent_run(self, first: int) -> list[int]:
        """Return steps from here on that one user sends, and that no other step depends on."""
        steps, run = self._scenario.steps, list[int]()
        for number in range(first, min(first + RUN_STEPS_MAX, len(steps))):
            step = steps[number]
            if step.user != steps[first].user or not _is_independent(step):
                break
            run.append(number)
        return run

    def _play_run(self, peer: SocketPeer, run: list[int]) -> None:
        """Send a run's requests at the same time, and repeat those that fail."""
        steps = [self._scenario.steps[number] for number in run]
        requests = [self._request(step) for step in steps]
        calls = [
            (API_OF[step.api], step.version, request)
            for step, request in zip(steps, requests, strict=True)
        ]
        responses = peer.ask_all(steps[0].user, calls, PATIENCE_MS)
        for number, step, request, response in zip(run, steps, requests, responses, strict=True):
            is_final = response != CLOSED and not _is_transient(step, response)
            final = response if is_final else self._settled(step, request)
            self._found[number] = self._plain(step, final)

    def clean_up(self) -> None:
        clean_up(self._scenario, self._peer)

    def _use_token(self, step: Step) -> bool:
        """Let a connection log in with a token; return whether the token was created."""
        created = self._responses.get(step.token)
        if created is None or not created.token_id:
            return False
        self._peer.use_token(step.user, created.token_id, created.hmac)
        return True

    def _collect(self, user: str) -> None:
        number = self._later.pop(user)
        response = self._peer.receive(user)
        if response == WAITS:
            self._peer.hang_up(user)
        self._found[number] = self._plain(self._scenario.steps[number], response)

    def _request(self, step: Step) -> Any:
        name = f"{step.api}Request"
        request = msgspec.convert(step.request, message_classes_by_name(name)[name])
        fill_generated_values(request, step.takes, self._responses, self._ids)
        return reset_unsupported_fields(request, step.version)

    def _settled(self, step: Step, request: Any) -> Any:
        response: Any = None
        is_lookup = step.api == ApiKey.FIND_COORDINATOR.wire_name  # of coordinators that are up
        for _ in range(LOOKUP_RETRIES if is_lookup else RETRIES):
            api, patience_ms = API_OF[step.api], PATIENCE_MS
            if step.api in NEVER_ANSWERED:
                patience_ms = BRIEF_PATIENCE_MS
            response = ask(self._peer, step.user, api, step.version, request, patience_ms)
            if not _is_transient(step, response):
                break
            self._peer.pause(50)
        return response

    def _plain(self, step: Step, response: Any) -> Any:
        if isinstance(response, str):
            return {response: True}
        if step.label:
            self._responses[step.label] = response
            self._symbols.learn(step.label, response)
        if isinstance(response, CreateTopicsResponse):
            for topic in response.topics:
                if topic.topic_id != NO_ID:
                    self._ids[topic_id_of(topic.name)] = topic.topic_id
                    self._symbols.learn_topic(topic.name, topic.topic_id)
        comparing = Comparing(self._scenario, self._symbols, self._peer.now_ms())
        return comparing.plain(API_OF[step.api], step.version, response)


def _is_transient(step: Step, response: Any) -> bool:
    codes = TRANSIENT_BY_API.get(step.api, TRANSIENT)
    return not isinstance(response, str) and has_code(response, codes)


def _is_independent(step: Step) -> bool:
    """Return whether a step neither needs responses of others nor changes anything."""
    is_linked = step.label or step.takes or step.later or step.after_ms or step.token
    return API_OF[step.api] in INDEPENDENT and not is_linked


def shim_of(name: str) -> InProcess:
    """Return the shim with the set-up of a recording's broker: `4.3.1`, `4.3.1-open`."""
    release, _, mode = name.partition("-")
    known = mode if mode in MODES else "authorizer"
    return InProcess(release, known, settings_of_mode(mode), client_id=CLIENT_ID)


def settings_of_mode(mode: str) -> dict[str, str]:
    """Return the settings of the brokers of a recording, in addition to those of all."""
    return {"super.users": ";".join(SUPER_USERS_OF_RULES)} if mode == RULES else {}


def play(scenario: Scenario, peer: Peer) -> list[Any]:
    """Return the comparable response to each step; restore the cluster."""
    playing = Play(scenario, peer)
    try:
        return playing.run()
    finally:
        playing.clean_up()


def _set_up(scenario: Scenario, peer: Peer) -> dict[bytes, bytes]:
    """Create topics, committed offsets and ACLs; return real topic ids by the scenario's ids."""
    ids = create(peer, scenario.topics, PARTITIONS, scenario.settings)
    for group in scenario.groups:
        request = _commit(scenario, group)
        look = partial(ask_root, peer, ApiKey.OFFSET_COMMIT, request, 8)
        until(peer, look, _is_committed)
    _make_acls(scenario, peer)
    return {topic_id_of(name): topic_id for name, topic_id in ids.items() if topic_id != NO_ID}


def _make_acls(scenario: Scenario, peer: Peer) -> None:
    acls = [msgspec.convert(acl, AclCreation) for acl in scenario.acls]
    if not acls:
        return
    response = ask_root(peer, ApiKey.CREATE_ACLS, CreateAclsRequest(creations=acls))
    assert all(result.error_code in (0, 54) for result in response.results), response
    if response.results[0].error_code == 0 and peer.takes_effect_later:
        wanted = len({msgspec.json.encode(acl) for acl in acls})
        until(
            peer,
            lambda: ask_root(peer, ApiKey.DESCRIBE_ACLS, described_acls()),
            lambda found: sum(len(resource.acls) for resource in found.resources) == wanted,
        )


def _commit(scenario: Scenario, group: str) -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=5, committed_metadata="x"
    )
    return OffsetCommitRequest(
        group_id=group,
        topics=[
            OffsetCommitRequestTopic(name=name, partitions=[partition])
            for name in scenario.topics[:COMMITTED]
        ],
    )


def _is_committed(response: Any) -> bool:
    codes = {partition.error_code for topic in response.topics for partition in topic.partitions}
    assert codes <= {0} | TRANSIENT, response
    return not codes & TRANSIENT


def _texts(value: Any) -> set[str]:
    """Return all texts in some requests."""
    if isinstance(value, str):
        return {value}
    rows = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {text for row in rows for text in _texts(row)}
