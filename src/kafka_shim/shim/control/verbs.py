"""The calls of the control API, without HTTP: plain functions of a broker."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_formats import FORMATS, read, write
from kafka_shim.authorizer.acl_formats.objects import to_objects
from kafka_shim.authorizer.acl_formats.rules import parse_rules
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, AclFilter, Actor
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.compression import MissingPackageError
from kafka_shim.protocol.wire_json import uuid_text
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import TopicSeed
from kafka_shim.shim.control.fault_verbs import ControlFaults
from kafka_shim.shim.control.group_verbs import ControlGroups
from kafka_shim.shim.control.matrix import matrix
from kafka_shim.shim.control.nodes import Nodes
from kafka_shim.shim.control.past_requests import PastRequests
from kafka_shim.shim.control.problem import ControlError, authorizer_of
from kafka_shim.shim.control.record_verbs import Records
from kafka_shim.shim.control.shapes import AclRules, Advance, NewTopic, NewUser
from kafka_shim.shim.control.state_shapes import AclText
from kafka_shim.shim.control.time_sliced import time_sliced
from kafka_shim.shim.control.transaction_verbs import transactions
from kafka_shim.shim.control.who_may import who_may
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.faults.fault_effects import remove_acls
from kafka_shim.shim.initial_state import create_topic
from kafka_shim.shim.state.logs.log_cleaner import clean
from kafka_shim.shim.state.snapshot import Snapshot
from kafka_shim.shim.state.topics import Topic
from kafka_shim.shim.whole_number import whole_number

_CONTROL = Actor("User:ANONYMOUS", "127.0.0.1")

TIME_MS_MAX = 253_402_300_799_999
"""The end of the year 9999; what clients add to it still fits their numbers."""


class Control:
    """A broker as a test sees it. Every method answers plain values, ready for JSON."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._cluster = broker.cluster
        self.nodes = Nodes(broker)
        self._snapshots: dict[int, Snapshot] = {}
        self._snapshot_id = 0
        self.history = broker.keep_history()
        self.seen = PastRequests(self.history)
        self.faults = ControlFaults(broker)
        self.records = Records(broker.cluster)
        self.groups = ControlGroups(broker.cluster)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Mark that the code in the `with` block may change the broker."""
        with self._cluster.state_version.noted():
            yield
        storage = self._broker.storage
        if storage is not None:
            storage.note_all()
            storage.commit()

    # the state

    def health(self) -> dict[str, Any]:
        return {
            "status": "ok",
            "release": self._cluster.release,
            "uptime_ms": self._cluster.clock.now_ms() - self._broker.started_ms,
            "connections": self._broker.connections,
        }

    def state(self) -> dict[str, Any]:
        cluster = self._cluster
        listeners: dict[str, list[str]] = {}
        for name, address in self._broker.addresses():
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
            **self.topics(),
            **self.users(),
            "acls": [] if authorizer is None else to_objects(authorizer.acls(AclFilter())),
            "groups": [
                {"group_id": group.group_id, "type": group.type.value, "state": group.state_name}
                for group in cluster.groups
            ],
        }

    async def reset(self) -> dict[str, Any]:
        await self._broker.start_all_nodes()
        self._broker.reset()
        return {"done": True}

    def snapshot(self) -> dict[str, Any]:
        self._snapshot_id += 1
        self._snapshots[self._snapshot_id] = self._broker.snapshot()
        return {"id": self._snapshot_id}

    async def restore(self, snapshot_id: str) -> dict[str, Any]:
        snapshot = self._snapshots[self._known_snapshot(snapshot_id)]
        await self._broker.start_all_nodes()
        self._broker.restore(snapshot)
        return {"done": True}

    def forget_snapshot(self, snapshot_id: str) -> dict[str, Any]:
        del self._snapshots[self._known_snapshot(snapshot_id)]
        return {"done": True}

    def _known_snapshot(self, text: str) -> int:
        number = whole_number(text)
        if number is None or number not in self._snapshots:
            raise ControlError(404, f"unknown snapshot `{text}`")
        return number

    # topics, users, ACLs

    def topics(self) -> dict[str, Any]:
        return {"topics": [_topic_row(topic) for topic in self._cluster.topics]}

    def create_topic(self, topic: NewTopic) -> dict[str, Any]:
        seed = TopicSeed(topic.name, topic.partitions, topic.configs, topic.replication_factor)
        try:
            create_topic(self._cluster, seed)
        except ConfigError as error:
            status = 409 if topic.name in self._cluster.topics else 400
            raise ControlError(status, str(error)) from error
        made = self._cluster.topics.get(topic.name)
        assert made is not None
        return _topic_row(made)

    def delete_topic(self, name: str) -> dict[str, Any]:
        if name not in self._cluster.topics:
            raise ControlError(404, f"unknown topic `{name}`")
        self._cluster.topics.delete(name)
        return {"done": True}

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
            cleaned = clean(logs, self._cluster.clock.now_ms(), stamps_horizon=horizon)
        except (DecodeError, MissingPackageError) as error:
            text = f"topic `{name}` cannot be compacted, as its records cannot be read: {error}"
            raise ControlError(409, text) from error
        return {
            "partitions": [
                {"partition": index, **msgspec.structs.asdict(log_cleaning)}
                for index, log_cleaning in enumerate(cleaned)
            ]
        }

    def users(self) -> dict[str, Any]:
        known = self._cluster.users
        return {"users": sorted({*known.passwords, *known.stored_names()})}

    def add_user(self, user: NewUser) -> dict[str, Any]:
        if not user.name or not user.password:
            raise ControlError(400, "a user needs a name and a password")
        self._cluster.users.add(user.name, user.password)
        return {"done": True}

    def remove_user(self, name: str) -> dict[str, Any]:
        if name not in self._cluster.users.passwords:
            raise ControlError(404, f"unknown user `{name}`")
        self._cluster.users.remove(name)
        return {"done": True}

    def acls(self, principal: str | None = None) -> dict[str, Any]:
        return {
            "acls": to_objects(authorizer_of(self._cluster).acls(AclFilter(principal=principal)))
        }

    def add_acls(self, rules: AclRules) -> dict[str, Any]:
        return self._added(_parsed(rules))

    def import_acls(self, new: AclText) -> dict[str, Any]:
        """Add ACLs from a text in any known format."""
        if new.form is not None:
            _check_form(new.form)
        try:
            return self._added(read(new.text, new.form))
        except AclTextError as error:
            raise ControlError(400, str(error)) from error

    def export_acls(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return all ACLs as text; ControlError if the format cannot express one of them."""
        form = query.get("form", "commands")
        _check_form(form)
        acls = authorizer_of(self._cluster).acls(AclFilter())
        try:
            return {"form": form, "text": write(acls, form)}
        except AclTextError as error:
            raise ControlError(400, f"the ACLs cannot be written as {form}: {error}") from error

    def _added(self, acls: list[Acl]) -> dict[str, Any]:
        for acl, result in zip(
            acls, authorizer_of(self._cluster).create_acls(_CONTROL, acls), strict=True
        ):
            if result.error is not None:
                text = f"{result.error.name}{f', {result.message}' if result.message else ''}"
                raise ControlError(400, f"Kafka rejects the ACL {to_objects([acl])[0]}: {text}")
        return {"acls": to_objects(acls)}

    def remove_acls(self, rules: AclRules) -> dict[str, Any]:
        acls = _parsed(rules)
        authorizer_of(self._cluster)
        return {"acls": to_objects(remove_acls(self._cluster, acls))}

    def matrix(self, query: Mapping[str, str]) -> dict[str, Any]:
        return matrix(self._cluster, self.history, query)

    def who_may(self, query: Mapping[str, str]) -> dict[str, Any]:
        return who_may(self._cluster, query)

    def transactions(self) -> dict[str, Any]:
        return transactions(self._cluster)

    # time

    def clock(self) -> dict[str, Any]:
        clock = self._cluster.clock
        return {"now_ms": clock.now_ms(), "is_manual": isinstance(clock, ManualClock)}

    async def advance(self, by: Advance) -> dict[str, Any]:
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
        await time_sliced(clock.steps(by.by_ms))
        return self.clock()

    def metrics(self) -> str:
        from kafka_shim.shim.control.metrics import exposition  # noqa: PLC0415 - imported at the first scrape

        return exposition(self._broker, self.history)


def convert(body: Any, shape: type[msgspec.Struct]) -> Any:
    """Convert a body to its shape; ControlError names the invalid key."""
    try:
        return msgspec.convert(body, shape)
    except msgspec.ValidationError as error:
        raise ControlError(400, f"invalid body: {error}") from error


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


def _parsed(rules: AclRules) -> list[Acl]:
    try:
        return parse_rules(rules.acls)
    except AclTextError as error:
        raise ControlError(400, str(error)) from error


def _check_form(form: str) -> None:
    if form not in FORMATS:
        raise ControlError(400, f"unknown format `{form}`; expected one of {', '.join(FORMATS)}")
