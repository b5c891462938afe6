"""What the control API can do with a broker, without HTTP."""

import re
from collections.abc import Iterator, Mapping, Sized
from contextlib import contextmanager
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, AclFilter, Actor, acls_to_objects
from kafka_shim.policy.formats import FORMATS, format_acls_losslessly, parse_distinct_acls
from kafka_shim.policy.formats.yaml_rules import parse_acls_of_test_broker
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.messages.create_topics import CreatableTopicConfig
from kafka_shim.protocol.records.compression import MissingPackageError
from kafka_shim.protocol.wire_json import uuid_text
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import InitialTopic
from kafka_shim.shim.control.access_matrix import (
    access_matrix,
    access_of_principal,
    who_can_response,
)
from kafka_shim.shim.control.bodies import (
    AclRules,
    ClockAdvance,
    NewTopic,
    NewUser,
    TopicSettings,
)
from kafka_shim.shim.control.change_preview import (
    difference_of_principals,
    preview_of_acl_change,
)
from kafka_shim.shim.control.change_rows import change_rows
from kafka_shim.shim.control.control_error import (
    ControlError,
    authorizer_of,
    query_flag,
    query_number,
    query_principal,
)
from kafka_shim.shim.control.denial_report import check_denial, denial_report
from kafka_shim.shim.control.fault_control import FaultControl
from kafka_shim.shim.control.group_control import GroupControl
from kafka_shim.shim.control.history_queries import HistoryQueries, acl_use
from kafka_shim.shim.control.least_acls_query import least_acls_response
from kafka_shim.shim.control.node_control import NodeControl
from kafka_shim.shim.control.setup_warnings import SetupWarnings, missing_acl_warnings
from kafka_shim.shim.control.state_bodies import AclChange, AclText
from kafka_shim.shim.control.topic_record_control import TopicRecordControl
from kafka_shim.shim.control.transaction_rows import transaction_state_rows
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.faults.fault_effects import remove_exact_acls
from kafka_shim.shim.handlers.common.topic_plan import (
    TopicError,
    valid_topic_configs,
)
from kafka_shim.shim.initial_state import create_topic
from kafka_shim.shim.state.logs.log_cleaner import compact_logs
from kafka_shim.shim.state.snapshot import Snapshot
from kafka_shim.shim.state.topics import Topic
from kafka_shim.text.option_parser import did_you_mean_text
from kafka_shim.text.whole_number import parse_whole_number

_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `([^`]+)`(?: - at `\$\.?(.*)`)?")
_CONTROL_ACTOR = Actor("User:ANONYMOUS", "127.0.0.1")

ACLS_PER_STEP = 100
"""ACLs that are created before clients can be served."""

Row = dict[str, Any]

TIME_MS_MAX = 253_402_300_799_999
"""The end of the year 9999; what clients add to it still fits their numbers."""


class BrokerControl:
    """Read and change a broker. Every method returns plain values, ready for JSON."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._cluster = broker.cluster
        self.nodes = NodeControl(broker)
        self._snapshots: dict[int, Snapshot] = {}
        self._snapshot_id = 0
        self.history = broker.enable_history()
        self.history_queries = HistoryQueries(self.history)
        self.faults = FaultControl(broker)
        self.setup = SetupWarnings(broker, self.history)
        self.records = TopicRecordControl(broker.cluster)
        self.groups = GroupControl(broker.cluster)

    @contextmanager
    def persisting_changes(self) -> Iterator[None]:
        """Mark that the code in the `with` block may change the broker."""
        with self._cluster.state_version.changing():
            yield
        storage = self._broker.storage
        if storage is not None:
            storage.mark_unreported_sections()
            storage.commit()

    # the state

    def health(self) -> dict[str, Any]:
        change_log = self._broker.change_log
        assert change_log is not None  # created with the history
        return {
            "status": "ok",
            "release": self._cluster.release,
            "uptime_ms": self._cluster.clock.now_ms() - self._broker.started_ms,
            "connections": self._broker.connection_count,
            "counts": self._object_counts(),
            "changes_last": change_log.last_number if change_log.observes_acls else None,
            "requests_last": self.history.last_number,
        }

    def _object_counts(self) -> dict[str, int]:
        """Return numbers that are known without a search; an authorizer's own class is searched."""
        cluster, authorizer = self._cluster, self._cluster.policy.authorizer
        acls: Sized = ()
        if isinstance(authorizer, StandardAuthorizer):
            acls = authorizer.store
        elif authorizer is not None:
            acls = list(authorizer.acls(AclFilter()))
        return {
            "topics": len(cluster.topics),
            "groups": len(cluster.groups),
            "users": len(cluster.users.configured_names()),
            "acls": len(acls),
            "faults": len(self._broker.faults.by_id),
        }

    def full_state(self) -> Row:
        cluster = self._cluster
        listeners: dict[str, list[str]] = {}
        for name, address in self._broker.listener_addresses():
            listeners.setdefault(name, []).append(address)
        authorizer = cluster.policy.authorizer
        super_users = (
            authorizer.super_users if isinstance(authorizer, StandardAuthorizer) else frozenset()
        )
        return {
            "release": cluster.release,
            "cluster_id": cluster.cluster_id,
            "listeners": listeners,
            "super_users": sorted(super_users),
            **self.list_topics(),
            **self.list_users(),
            "acls": [] if authorizer is None else self._acl_objects(AclFilter()),
            "groups": [
                {"group_id": group.group_id, "type": group.type.value, "state": group.state_name}
                for group in cluster.groups
            ],
        }

    async def reset_broker(self, query: Mapping[str, str]) -> dict[str, Any]:
        report = self.setup.report()
        self.setup.forget_acls()
        await self._broker.start_all_nodes()
        if query_flag(query, "new_ports"):
            await self._broker.move_to_new_ports()
        self._broker.reset_to_initial_state()
        return report

    def take_snapshot(self) -> dict[str, Any]:
        self._snapshot_id += 1
        self._snapshots[self._snapshot_id] = self._broker.take_snapshot()
        return {"id": self._snapshot_id}

    async def restore_snapshot(self, snapshot_id: str) -> dict[str, Any]:
        snapshot = self._snapshots[self._snapshot_id_or_404(snapshot_id)]
        report = self.setup.report()
        await self._broker.start_all_nodes()
        self._broker.restore_snapshot(snapshot)
        return report

    def delete_snapshot(self, snapshot_id: str) -> dict[str, Any]:
        del self._snapshots[self._snapshot_id_or_404(snapshot_id)]
        return {"done": True}

    def _snapshot_id_or_404(self, text: str) -> int:
        number = parse_whole_number(text)
        if number is None or number not in self._snapshots:
            raise ControlError(404, f"unknown snapshot `{text}`")
        return number

    # topics, users, ACLs

    def list_topics(self) -> Row:
        return {"topics": [_topic_row(topic) for topic in self._cluster.topics]}

    def create_topic(self, topic: NewTopic) -> dict[str, Any]:
        initial_topic = InitialTopic(
            topic.name, topic.partitions, topic.configs, topic.replication_factor
        )
        try:
            create_topic(self._cluster, initial_topic)
        except ConfigError as error:
            status = 409 if topic.name in self._cluster.topics else 400
            raise ControlError(status, str(error)) from error
        created = self._cluster.topics.get(topic.name)
        assert created is not None
        return _topic_row(created)

    def delete_topic(self, name: str) -> dict[str, Any]:
        if name not in self._cluster.topics:
            raise ControlError(404, f"unknown topic `{name}`")
        self._cluster.topics.delete_topic(name)
        return {"done": True}

    def alter_topic_settings(self, name: str, settings: TopicSettings) -> dict[str, Any]:
        topic = self._cluster.topics.get(name)
        if topic is None:
            raise ControlError(404, f"unknown topic `{name}`")
        wanted = {**topic.configs, **settings.configs}
        configs = [CreatableTopicConfig(*item) for item in wanted.items() if item[1] is not None]
        try:
            new = valid_topic_configs(configs, self._cluster)
        except TopicError as error:
            raise ControlError(
                400, f"topic `{name}`: {error.message or error.error.name}"
            ) from error
        self._cluster.topics.replace_configs(topic, new)
        return _topic_row(topic)

    def compact_topic(self, name: str) -> dict[str, Any]:
        topic = self._cluster.topics.get(name)
        if topic is None:
            raise ControlError(404, f"unknown topic `{name}`")
        logs = [partition.log for partition in topic.partitions]
        if not logs[0].settings.compacts:
            policy = "`cleanup.policy` is without `compact`"
            raise ControlError(409, f"topic `{name}` cannot be compacted: its {policy}")
        horizon = self._cluster.facts.records.tombstones_have_delete_horizon
        try:
            cleaned = compact_logs(logs, self._cluster.clock.now_ms(), stamps_horizon=horizon)
        except (DecodeError, MissingPackageError) as error:
            text = f"topic `{name}` cannot be compacted, as its records cannot be read: {error}"
            raise ControlError(409, text) from error
        return {
            "partitions": [
                {"partition": index, **msgspec.structs.asdict(log_cleaning)}
                for index, log_cleaning in enumerate(cleaned)
            ]
        }

    def list_users(self) -> dict[str, Any]:
        return {"users": self._cluster.users.names()}

    def set_user(self, user: NewUser) -> dict[str, Any]:
        if not user.name or not user.password:
            raise ControlError(400, "a user needs a name and a password")
        warnings = self.setup.misspelt_principal_warnings(f"User:{user.name}")
        self._cluster.users.set_configured_user(user.name, user.password)
        return {"done": True, "warnings": warnings, "failures": []}

    def remove_user(self, name: str) -> dict[str, Any]:
        if name not in self._cluster.users.configured_names():
            raise ControlError(404, f"unknown user `{name}`")
        self._cluster.users.remove_configured_user(name)
        return {"done": True}

    def list_acls(self, query: Mapping[str, str]) -> Row:
        principal = query_principal(query)
        acls = self._acl_objects(AclFilter(principal=principal))
        warnings = (
            [] if acls or principal is None else self.setup.misspelt_principal_warnings(principal)
        )
        return {"acls": acls, "warnings": warnings}

    def _acl_objects(self, acl_filter: AclFilter) -> list[dict[str, str]]:
        return acls_to_objects(list(authorizer_of(self._cluster).acls(acl_filter)))

    def add_acls(self, rules: AclRules) -> Row:
        acls = parse_acls_of_test_broker(rules.acls)
        return {"acls": self._create_acls(acls), "warnings": self.setup.add_test_acls(acls)}

    def import_acls(self, acl_text: AclText) -> Row:
        """Add ACLs from a text in any known format."""
        if acl_text.format is not None:
            _check_acl_format(acl_text.format)
        acls = parse_distinct_acls(acl_text.text, acl_text.format)
        return {
            "acls": self._create_acls(acls),
            "warnings": self.setup.ineffective_acl_warnings(acls),
        }

    def export_acls(self, query: Mapping[str, str]) -> Row:
        """Return all ACLs, or those of a principal, as text. Raise ControlError if the format
        cannot express one of them.
        """
        acl_format = query.get("format", "commands")
        _check_acl_format(acl_format)
        authorizer = authorizer_of(self._cluster)
        acls = list(authorizer.acls(AclFilter(principal=query_principal(query))))
        try:
            return {"format": acl_format, "text": format_acls_losslessly(acls, acl_format)}
        except AclTextError as error:
            raise ControlError(
                400, f"the ACLs cannot be written as {acl_format}: {error}"
            ) from error

    def _create_acls(self, acls: list[Acl]) -> list[Row]:
        """Create the ACLs; raise ControlError about the first one that Kafka rejects."""
        authorizer = authorizer_of(self._cluster)
        rejections: list[str] = []
        for start in range(0, len(acls), ACLS_PER_STEP):
            batch = acls[start : start + ACLS_PER_STEP]
            results = zip(batch, authorizer.create_acls(_CONTROL_ACTOR, batch), strict=True)
            for acl, result in results:
                if result.error is not None:
                    reason = ", ".join(filter(None, (result.error.name, result.message)))
                    rejections.append(f"{acls_to_objects([acl])[0]}: {reason}")
        if rejections:
            raise ControlError(400, f"Kafka rejects the ACL {rejections[0]}")
        return acls_to_objects(acls)

    def remove_acls(self, rules: AclRules) -> Row:
        authorizer_of(self._cluster)
        acls = parse_acls_of_test_broker(rules.acls)
        removed: list[Acl] = []
        for start in range(0, len(acls), ACLS_PER_STEP):
            removed += remove_exact_acls(self._cluster, acls[start : start + ACLS_PER_STEP])
        missing = [acl for acl in acls if acl not in removed]
        return {"acls": acls_to_objects(removed), "warnings": missing_acl_warnings(missing)}

    def access_matrix(self, query: Mapping[str, str]) -> Row:
        return access_matrix(self._cluster, self.history, query)

    def access_of_principal(self, query: Mapping[str, str]) -> Row:
        return access_of_principal(self._cluster, query)

    def preview_acls(self, change: AclChange) -> Row:
        """Return what a change of ACLs would do."""
        removed, added = map(parse_acls_of_test_broker, (change.remove, change.add))
        preview = preview_of_acl_change(self._cluster, self.history, removed, added)
        return preview | {"warnings": self.setup.typo_warnings(added)}

    def difference_of_principals(self, query: Mapping[str, str]) -> Row:
        return difference_of_principals(self._cluster, query)

    def acl_use(self) -> Row:
        return acl_use(self.history)

    def who_can(self, query: Mapping[str, str]) -> Row:
        return who_can_response(self._cluster, query)

    def least_acls(self, query: Mapping[str, str]) -> Row:
        return least_acls_response(self._cluster, self.history, query)

    def denial_report(self, query: Mapping[str, str]) -> Row:
        return denial_report(self.history, self._cluster, query)

    def check_denial(self, query: Mapping[str, str]) -> Row:
        return check_denial(self.history, self._cluster, query)

    def list_changes(self, query: Mapping[str, str]) -> Row:
        """Return the last changes of the state, or those after a number."""
        assert self._broker.change_log is not None  # created with the history
        return change_rows(self._broker.change_log, query_number(query, "after", 0))

    def list_transactions(self) -> dict[str, Any]:
        return transaction_state_rows(self._cluster)

    # time

    def clock_time(self) -> dict[str, Any]:
        clock = self._cluster.clock
        return {"now_ms": clock.now_ms(), "is_manual": isinstance(clock, ManualClock)}

    def advance_clock(self, by: ClockAdvance) -> dict[str, Any]:
        clock = self._cluster.clock
        if not isinstance(clock, ManualClock):
            raise ControlError(
                409,
                "the clock runs, so it cannot be advanced; start the broker with --manual-clock",
            )
        if by.by_ms < 0:
            raise ControlError(400, "invalid by_ms: expected 0 or more, since time cannot go back")
        if clock.now_ms() + by.by_ms > TIME_MS_MAX:
            raise ControlError(400, "by_ms is too large: the time would be after the year 9999")
        clock.advance(by.by_ms)
        return self.clock_time()

    def metrics_text(self) -> str:
        from kafka_shim.shim.control.prometheus_metrics import metrics_text  # noqa: PLC0415 - imported at the first scrape

        return metrics_text(self._broker, self.history)


def convert_body(body: Any, body_type: type[msgspec.Struct]) -> Any:
    """Convert a body to its shape. Raise ControlError, which names the invalid key, if that
    fails.
    """
    try:
        return msgspec.convert(body, body_type)
    except msgspec.ValidationError as error:
        text = _body_error_text(str(error), body_type)
        raise ControlError(400, f"invalid body: {text}") from error


def _body_error_text(text: str, body_type: type[msgspec.Struct]) -> str:
    """Return msgspec's text about a body; of an unknown key, with its place or the known ones."""
    unknown = _UNKNOWN_FIELD.fullmatch(text)
    if unknown is None:
        return text
    if unknown[2]:
        return f"unknown key `{unknown[1]}` in `{unknown[2]}`"
    keys = [field.encode_name for field in msgspec.structs.fields(body_type)]
    hint = did_you_mean_text(unknown[1], keys) or f"; expected {', '.join(keys) or 'none'}"
    return f"unknown key `{unknown[1]}`{hint}"


def _topic_row(topic: Topic) -> dict[str, Any]:
    return {
        "name": topic.name,
        "topic_id": uuid_text(topic.topic_id),
        "partitions": len(topic.partitions),
        "configs": dict(topic.configs),
        "leaders": [partition.leader_id for partition in topic.partitions],
        "start_offsets": [partition.log.start_offset for partition in topic.partitions],
        "end_offsets": [partition.log.end_offset for partition in topic.partitions],
    }


def _check_acl_format(acl_format: str) -> None:
    if acl_format not in FORMATS:
        raise ControlError(
            400, f"unknown format `{acl_format}`; expected one of {', '.join(FORMATS)}"
        )
