"""A cluster in use, and valid requests to it: records, groups, transactions, tokens and so on."""

from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks.arrays.cluster import SETTINGS
from benchmarks.arrays.messages import Case
from benchmarks.arrays.values import topic_id
from kafka_shim.protocol.codec.message_spec import StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.records.batches import DEFAULT_OPTIONS, BatchOptions, Record, encode_batch
from kafka_shim.protocol.records.message_sets import write_message_set
from kafka_shim.shim.dispatching.dispatcher import PendingExchange
from kafka_shim.shim.request.session import Session
from tests.fuzz.judging import session_of
from tests.shim.play import Stage

ALICE = "User:alice"
"""A user with ACLs for everything."""
Values = Mapping[str, Any]
NONE: Values = {}
LATER: Values = {"member_epoch": 1, "topology": None}
"""A heartbeat of a member of a streams group, instead of one that joins."""

_NOW_MS = 1_700_000_000_000
_RECORDS = [Record(number, _NOW_MS + number, b"k%d" % number, b"v") for number in range(3)]
_KINDS = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
_INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state")
_WAITING: Values = {"max_wait_ms": 500, "min_bytes": 1_000_000}
_ACQUIRING: Values = {"share_acquire_mode": 0, "max_records": 1, "batch_size": 1}
_SHARING: Values = {"group_id": "s0", "member_id": "AAAAAAAAAAAAAAAAAAAAAQ"}
_STATE: Values = {"group_id": "s2", "state_epoch": 2, "start_offset": 0}
_SUBSCRIBED: Values = {"subscribed_topic_names": ["t0"], "rack_id": None}
_CLASSIC: Values = {"group_id": "c0", "group_instance_id": None}
_TOPICS: Values = {
    "state_changelog_topics.name": "changelog",
    "repartition_sink_topics": ["repartition"],
    "repartition_source_topics.name": "repartition",
    "topic_configs": [],
    "copartition_groups": [],
}
_OF_RUNNING_MEMBERS = (
    "member_epoch",
    "endpoint_information_epoch",
    "active_tasks",
    "standby_tasks",
    "warmup_tasks",
    "task_offsets",
    "task_end_offsets",
)
_TOPOLOGY = ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE
_VALUES: Mapping[ApiKey, Values] = {
    ApiKey.FETCH: {**_WAITING, "session_epoch": -1},
    ApiKey.METADATA: {"topic_id": bytes(16)},
    ApiKey.LIST_OFFSETS: {"timestamp": _NOW_MS, "timeout_ms": 500},
    ApiKey.JOIN_GROUP: _CLASSIC,
    ApiKey.DESCRIBE_GROUPS: {"groups": ["c0"]},
    ApiKey.DELETE_GROUPS: {"groups_names": ["g0"]},
    ApiKey.API_VERSIONS: {"cluster_id": None, "node_id": -1},
    ApiKey.INIT_PRODUCER_ID: {"producer_id": -1, "producer_epoch": -1},
    ApiKey.CREATE_TOPICS: {"num_partitions": 3, "replication_factor": 3},
    ApiKey.CREATE_PARTITIONS: {"count": 4},
    ApiKey.DELETE_RECORDS: {"offset": 1},
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: {"allow_replication_factor_change": True},
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: {"users": None},
    ApiKey.DESCRIBE_QUORUM: {"topic_name": "__cluster_metadata"},
    ApiKey.DESCRIBE_CLUSTER: {"endpoint_type": 1},
    ApiKey.DESCRIBE_TRANSACTIONS: {"transactional_ids": ["tx0"]},
    ApiKey.CONSUMER_GROUP_HEARTBEAT: {"group_id": "n0", **_SUBSCRIBED},
    ApiKey.CONSUMER_GROUP_DESCRIBE: {"group_ids": ["n0"]},
    ApiKey.SHARE_GROUP_HEARTBEAT: {**_SHARING, **_SUBSCRIBED},
    ApiKey.SHARE_GROUP_DESCRIBE: {"group_ids": ["s0"]},
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: {"group_id": "s1"},
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: {"group_id": "s1"},
    ApiKey.STREAMS_GROUP_HEARTBEAT: {"group_id": "r1", "user_endpoint": None, **_TOPICS},
    ApiKey.STREAMS_GROUP_DESCRIBE: {"group_ids": ["r0"]},
    _TOPOLOGY: {"group_id": "r0", "global_stores": []},
    ApiKey.SHARE_FETCH: {**_SHARING, **_WAITING, **_ACQUIRING},
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: _STATE,
    ApiKey.READ_SHARE_GROUP_STATE: _STATE,
    ApiKey.WRITE_SHARE_GROUP_STATE: _STATE,
    ApiKey.DELETE_SHARE_GROUP_STATE: _STATE,
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: _STATE,
    ApiKey.SHARE_ACKNOWLEDGE: {**_SHARING, "acknowledge_types": [1]},
    ApiKey.LIST_CONFIG_RESOURCES: {"resource_types": [2]},
    ApiKey.UPDATE_FEATURES: {
        "feature": "metadata.version",
        "upgrade_type": 1,
        "max_version_level": 33,
    },
    ApiKey.CREATE_DELEGATION_TOKEN: {"owner_principal_name": ""},
    ApiKey.DESCRIBE_DELEGATION_TOKEN: {"owners": None},
}
"""Values with which requests succeed, by API and field; `benchmarks.arrays` has the others."""
_OF_MEMBER = (
    ApiKey.JOIN_GROUP,
    ApiKey.SYNC_GROUP,
    ApiKey.HEARTBEAT,
    ApiKey.LEAVE_GROUP,
    ApiKey.OFFSET_COMMIT,
    ApiKey.TXN_OFFSET_COMMIT,
)
_OF_PRODUCER = (
    ApiKey.ADD_PARTITIONS_TO_TXN,
    ApiKey.ADD_OFFSETS_TO_TXN,
    ApiKey.TXN_OFFSET_COMMIT,
    ApiKey.END_TXN,
    ApiKey.WRITE_TXN_MARKERS,
)
_OF_QUORUM = (ApiKey.ADD_RAFT_VOTER, ApiKey.REMOVE_RAFT_VOTER)
_OF_TOKEN = (ApiKey.RENEW_DELEGATION_TOKEN, ApiKey.EXPIRE_DELEGATION_TOKEN)
_BEFORE: tuple[tuple[ApiKey, Values], ...] = (
    (ApiKey.SHARE_GROUP_HEARTBEAT, {}),
    (ApiKey.SHARE_FETCH, {}),
    (ApiKey.PRODUCE, {}),
    (ApiKey.PRODUCE, {}),
    (ApiKey.SHARE_FETCH, {}),
    (ApiKey.SHARE_GROUP_HEARTBEAT, {"group_id": "s1"}),
    (ApiKey.SHARE_GROUP_HEARTBEAT, {"group_id": "s1", "member_epoch": -1}),
    (ApiKey.SHARE_GROUP_HEARTBEAT, {"group_id": "s2", "member_epoch": 0}),
    (ApiKey.OFFSET_COMMIT, {}),
    (ApiKey.JOIN_GROUP, {}),
    (ApiKey.SYNC_GROUP, {}),
    (ApiKey.INIT_PRODUCER_ID, {}),
    (ApiKey.INIT_PRODUCER_ID, {"transactional_id": "tx1"}),
    (ApiKey.ADD_PARTITIONS_TO_TXN, {}),
    (ApiKey.ADD_OFFSETS_TO_TXN, {}),
    (ApiKey.CONSUMER_GROUP_HEARTBEAT, {}),
    (ApiKey.STREAMS_GROUP_HEARTBEAT, {"group_id": "r0"}),
    (ApiKey.CREATE_ACLS, {}),
    (ApiKey.ALTER_CLIENT_QUOTAS, {}),
    (ApiKey.ALTER_USER_SCRAM_CREDENTIALS, {}),
    (ApiKey.CREATE_DELEGATION_TOKEN, {}),
)
"""Requests that fill the cluster, with values of their own."""


class BusyCluster(Stage):
    """Three brokers with topics, records, an open transaction and a group of each type.

    `known` has the values that brokers have given, such as ids of members, by API and field.
    """

    def __init__(self, release: str, *, authorizer: str = "standard") -> None:
        super().__init__(release, brokers=3, authorizer=authorizer, properties=SETTINGS)
        if authorizer != "none":
            for kind in _KINDS:
                self.allow(ALICE, Operation.ALL, kind, "*")
            self.allow(ALICE, Operation.ALL, ResourceType.CLUSTER, "kafka-cluster")
        topics = self.cluster.topics
        for number in range(2):
            topics.create_topic(f"t{number}", [[1, 2, 3]] * 3, {}, topic_id=topic_id(number))
        for name in _INTERNAL:
            topics.create_topic(name, [[1, 2, 3]], {})
        self.known: dict[ApiKey, dict[str, Any]] = {}
        self._keep(_OF_QUORUM, cluster_id=self.cluster.config.cluster_id)
        self._keep([ApiKey.ALTER_REPLICA_LOG_DIRS], path=self.cluster.configs.log_directories(1)[0])
        for api, values in _BEFORE:
            if api in self.dispatcher.apis.advertised:
                self._prepare(api, values)

    def session(self, principal: str) -> Session:
        if principal not in self.sessions:
            self.sessions[principal] = session_of(principal)
        return self.sessions[principal]

    def valid(self, case: Case, more: Values = NONE) -> Any:
        """Return a request with valid values and `more`, and one element in each array."""
        request, spec = (
            case.request(1),
            load_message_spec(f"{case.api.wire_name}Request").top_level_struct,
        )
        values = {**_VALUES.get(case.api, {}), **self.known.get(case.api, {})}
        match case.api, case.path:
            case ApiKey.CREATE_TOPICS, (_, "assignments", _):
                values |= {"num_partitions": -1, "replication_factor": -1, "broker_ids": [1, 2, 3]}
            case ApiKey.STREAMS_GROUP_HEARTBEAT, (name, *_) if name in _OF_RUNNING_MEMBERS:
                values |= {**LATER, "group_id": "r0"}
        values = {name: value for name, value in values.items() if name not in case.path}
        if case.api is ApiKey.PRODUCE:
            values["records"] = _records(case.version)
        put(request, spec, case.version, {**values, **more})
        return request

    def responded(self, api: ApiKey, version: int, request: Any) -> Any:
        """Return the response of the broker to a request that may wait for up to a second."""
        response = self.ask(api, version, request, ALICE)
        if isinstance(response, PendingExchange):
            self.clock.advance(1_000)
            return self.outcome(api, version, response)
        return response

    def _prepare(self, api: ApiKey, values: Values) -> None:
        """Send a request that succeeds, and keep the ids in its response for others."""
        low, high = self.dispatcher.apis.advertised[api]
        version = low if api is ApiKey.JOIN_GROUP else high  # later ones need a second request
        request = self.valid(Case(api, version, (), is_equal=False), values)
        response = self.responded(api, version, request)
        if "group_id" not in values:
            self._learn(api, response, values)

    def _learn(self, api: ApiKey, response: Any, sent: Values) -> None:
        """Keep what a response gives for later requests."""
        match api:
            case ApiKey.JOIN_GROUP:
                epochs = ("generation_id", "generation_id_or_member_epoch")
                ids = dict.fromkeys(epochs, response.generation_id)
                self._keep(_OF_MEMBER, **_CLASSIC, member_id=response.member_id, **ids)
            case ApiKey.INIT_PRODUCER_ID:
                ids = {name: getattr(response, name) for name in ("producer_id", "producer_epoch")}
                ids["transactional_id"] = sent.get("transactional_id", "tx0")
                old = {f"v3_and_below_{name}": value for name, value in ids.items()}
                self._keep([api] if sent else _OF_PRODUCER, **ids, **old)
            case ApiKey.CONSUMER_GROUP_HEARTBEAT:
                epoch = response.member_epoch
                self._keep([api], member_epoch=epoch)
                self._keep([ApiKey.OFFSET_FETCH], group_id="n0", member_id="m", member_epoch=epoch)
            case ApiKey.SHARE_GROUP_HEARTBEAT:
                self._keep([api], member_epoch=response.member_epoch)
            case ApiKey.SHARE_FETCH:
                epoch = self.known.get(api, {}).get("share_session_epoch", 0)
                self._keep([api, ApiKey.SHARE_ACKNOWLEDGE], share_session_epoch=epoch + 1)
            case ApiKey.CREATE_DELEGATION_TOKEN:
                self._keep(_OF_TOKEN, hmac=response.hmac)

    def _keep(self, apis: Iterable[ApiKey], **values: Any) -> None:
        for api in apis:
            self.known.setdefault(api, {}).update(values)


def put(message: Any, spec: StructSpec, version: int, values: Values, parent: str = "") -> None:
    """Set fields in a message and in its structs, by their names or by `parent.name`."""
    for field in spec.fields:
        name = field.attribute
        if not field.versions.has(version):
            continue
        content = getattr(message, name)
        value = values.get(f"{parent}.{name}", values.get(name, ...))
        if value is not ...:
            setattr(message, name, value)
        elif field.struct is not None and content is not None:
            for row in content if field.is_array else [content]:
                put(row, field.struct, version, values, name)


def batch(options: BatchOptions) -> bytes:
    return encode_batch(_RECORDS, options)


def _records(version: int) -> bytes:
    """Return records in the newest format that a version of Produce takes."""
    if version < 3:
        return write_message_set(_RECORDS, 1 if version == 2 else 0)
    return batch(DEFAULT_OPTIONS)
