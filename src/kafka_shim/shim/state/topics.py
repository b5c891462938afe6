"""Topics and their partitions: names, ids, replicas, configs, and one log per partition."""

import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import islice

from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.logs.log import PartitionLog
from kafka_shim.shim.state.logs.log_settings import EffectiveLogSettings
from kafka_shim.shim.state.state_change import (
    ChangeObserver,
    StateChange,
    observe_changed_settings,
)

METADATA_LOG = "__cluster_metadata"
"""The log of the controllers, which is not a topic."""

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")
NAME_LENGTH_MAX = 249


def name_error(name: str) -> str | None:
    """Return why `name` is not a valid topic name; None if it is."""
    if not name:
        return "topic name is empty"
    if name in (".", ".."):
        return f"topic name `{name}` is reserved"
    if len(name) > NAME_LENGTH_MAX:
        return f"topic name is longer than {NAME_LENGTH_MAX} characters"
    if _LEGAL.fullmatch(name) is None:
        return f"topic name `{name}` has characters other than ASCII letters, digits, `.`, `_`, `-`"
    return None


def name_in_metrics(name: str) -> str:
    """Return the name in metrics; topics that differ only in `.` and `_` cannot coexist."""
    return name.replace(".", "_")


NO_ID = bytes(16)
"""The zero topic id, which means that no topic id is given."""

NOBODY = -1
"""Leader id of a partition without a leader."""

DELETED_NAMES_MAX = 1_000
"""Maximum number of deleted topic names kept with their deletion epochs."""

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state"})


_NONE: frozenset[str] = frozenset()  # one for all, as each further object costs the collector time


@lru_cache(maxsize=1_000)
def _shared_replica_list(replicas: tuple[int, ...]) -> list[int]:
    """Return one list for all partitions with these replicas: it is replaced, never changed."""
    return list(replicas)


class Partition:
    """One partition: its replicas, leader and log."""

    __slots__ = (
        *("eligible", "index", "is_open", "isr", "last_known", "leader_epoch", "leader_id"),
        *("log", "replicas", "topic_name", "was_led"),
    )

    def __init__(self, index: int, replicas: Sequence[int], log: PartitionLog) -> None:
        self.index = index
        self.replicas = self.isr = _shared_replica_list(tuple(replicas))
        self.eligible = self.last_known = _shared_replica_list(())  # KIP-966
        self.leader_id = replicas[0] if replicas else NOBODY
        self.leader_epoch = 0
        self.log = log
        self.topic_name = ""  # set by the topic
        self.is_open = True  # False: no broker could open its log
        self.was_led = True  # False: it exists only for the controller

    @property
    def log_without_flush(self) -> PartitionLog:
        """The log with the records that are written, if some are written late."""
        return self.log

    def is_led_with_open_log_by(self, node_id: int) -> bool:
        return self.leader_id == node_id and self.is_open


MakePartition = Callable[[str, int, Sequence[int], PartitionLog], Partition]


class Topic:
    """A topic; `configs` holds only what was set on the topic itself.

    `unreadable` are the settings with invalid values, which 3.0 accepts.
    """

    __slots__ = ("configs", "is_internal", "name", "partitions", "topic_id", "unreadable")

    def __init__(self, name: str, topic_id: bytes, *, is_internal: bool) -> None:
        self.name = name
        self.topic_id = topic_id
        self.configs: dict[str, str] = {}
        self.unreadable = _NONE
        self.is_internal = is_internal
        self.partitions: list[Partition] = []

    @property
    def has_any_partition_ever_been_led(self) -> bool:
        """Return whether any partition has had a leader; else only the controller sees it."""
        return any(partition.was_led for partition in self.partitions)

    def led_partition(self, index: int) -> Partition | None:
        """Return a partition as brokers see it: None until it has had a leader."""
        found = self.controller_partition(index)
        return found if found is not None and found.was_led else None

    def controller_partition(self, index: int) -> Partition | None:
        """Return a partition as the controller sees it: also one that never had a leader."""
        return self.partitions[index] if 0 <= index < len(self.partitions) else None


class Topics:
    """All topics by name and by id; `epoch` increases with every change."""

    def __init__(
        self,
        rng: random.Random,
        clock: Clock,
        internal_names: Collection[str] = INTERNAL_TOPICS,
    ) -> None:
        self._random = rng
        self._clock = clock
        self._mapping_schema: dict[str, Topic] = {}
        self._by_id: dict[bytes, Topic] = {}
        self._by_metric_name: dict[str, tuple[str, ...]] = {}
        self._unled: set[str] = set()
        self.internal_names = frozenset(internal_names)
        self.epoch = 0
        self._changed: dict[str, int] = {}  # the epoch of each topic's last change
        self._deleted: dict[str, int] = {}  # the same of deleted topics, the latest last
        self._deleted_ids: dict[bytes, str] = {}
        self._forgotten = 0  # the epoch of the last deletion whose name is no longer kept
        self.deletions = 0
        self.partition_count = 0
        """Number of partitions of all topics together."""
        self.prepared: dict[str, Mapping[str, str]] = {}
        """Settings set on topics before they exist (3.0, 3.1)."""
        self.is_readable: Callable[[str, str], bool] = lambda *_: True
        """Return whether a topic setting's value is valid; used where it was not validated before.
        """
        self.in_force: Callable[[Mapping[str, str]], EffectiveLogSettings] = EffectiveLogSettings
        """Return the effective settings for a topic with these overrides."""
        self.can_lead: Callable[[int], bool] = lambda _: True
        """Return whether a broker exists; used where it was not validated before."""
        self.when_filled: Callable[[], None] = lambda: None
        """Called when a batch is appended to an empty log."""
        self.when_changed: Callable[[str], None] = lambda _: None
        """Called with the name of a changed topic."""
        self.when_deleted: Callable[[bytes], None] = lambda _: None
        """Called with the id of a deleted topic."""
        self.observe_change: ChangeObserver | None = None
        """Called after topics, partitions, settings and leaders have changed, if it is set."""
        self.make_partition: MakePartition = lambda _, *rest: Partition(*rest)
        """Make a partition, given the topic's name, the index, the replicas and the log."""
        self.make_log: Callable[[EffectiveLogSettings, Clock, Callable[[], None]], PartitionLog] = (
            PartitionLog
        )

    def __len__(self) -> int:
        return len(self._mapping_schema)

    def __iter__(self) -> Iterator[Topic]:
        return iter(list(self._mapping_schema.values()))

    def __contains__(self, name: object) -> bool:
        return name in self._mapping_schema

    def find_existing(self, names: Set[str]) -> list[Topic]:
        """Return the topics among `names` that exist, in no order; fast for very many names.

        Topics may be deleted meanwhile, if another thread calls it.
        """
        present = self._mapping_schema.keys() & names
        return [topic for name in present if (topic := self._mapping_schema.get(name)) is not None]

    def get(self, name: str | None) -> Topic | None:
        return None if name is None else self._mapping_schema.get(name)

    def led_topic(self, name: str) -> Topic | None:
        """Return a topic as brokers see it: None until it has had a leader."""
        return None if name in self._unled else self._mapping_schema.get(name)

    def by_id(self, topic_id: bytes) -> Topic | None:
        return self._by_id.get(topic_id)

    def current_or_deleted_name(self, topic_id: bytes) -> str | None:
        """Return the name of a topic, also of one that was deleted not long ago."""
        topic = self._by_id.get(topic_id)
        return self._deleted_ids.get(topic_id) if topic is None else topic.name

    def ids_deleted_since(self, deletions: int) -> list[bytes] | None:
        """Return the ids of the topics that were deleted since there were so many deletions; None
        if they are too many to be remembered.
        """
        count = self.deletions - deletions
        if count > len(self._deleted_ids):
            return None
        return list(islice(reversed(self._deleted_ids), count))

    def led_partition(self, name: str, index: int) -> Partition | None:
        """Return a partition as brokers see it: None until it has had a leader."""
        topic = self._mapping_schema.get(name)
        if topic is None or not 0 <= index < len(topic.partitions):
            return None
        found = topic.partitions[index]
        return found if found.was_led else None

    def controller_partition(self, name: str, index: int) -> Partition | None:
        """Return a partition as the controller sees it: also one that never had a leader."""
        topic = self._mapping_schema.get(name)
        return None if topic is None else topic.controller_partition(index)

    def names_colliding_in_metrics(self, name: str) -> list[str]:
        """Return other topics whose names differ from this one only in `.` and `_`."""
        return sorted({*self._by_metric_name.get(name_in_metrics(name), ())} - {name})

    def new_topic_id(self) -> bytes:
        """Return a random version 4 UUID as 16 bytes."""
        raw = bytearray(self._random.randbytes(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        return bytes(raw)

    def create_topic(
        self,
        name: str,
        assignments: Sequence[Sequence[int]],
        configs: Mapping[str, str],
        *,
        topic_id: bytes | None = None,
    ) -> Topic:
        """Create a topic with one partition per replica list, the leader first in each.

        `topic_id` is given when a stored topic is restored.
        """
        assert name not in self._mapping_schema
        topic_id = topic_id or self.new_topic_id()
        topic = Topic(name, topic_id, is_internal=name in self.internal_names)
        self._set_valid_configs(topic, {**self.prepared.pop(name, {}), **configs})
        self._mapping_schema[name] = topic
        self._by_id[topic.topic_id] = topic
        alike = name_in_metrics(name)
        self._by_metric_name[alike] = (*self._by_metric_name.get(alike, ()), name)
        self._append_partitions(topic, assignments)
        if self.observe_change is not None:
            after = {"partitions": len(topic.partitions), **topic.configs}
            self.observe_change(StateChange("topic", "added", name, after=after))
        return topic

    def _record_change(self, name: str) -> None:
        self.epoch += 1
        self._changed[name] = self.epoch
        self.when_changed(name)

    def _record_change_of_existing_topic(self, partition: Partition) -> None:
        if partition.topic_name in self._mapping_schema:
            self._record_change(partition.topic_name)

    def any_may_have_changed_since(self, epoch: int, names: Iterable[str]) -> bool:
        """Return whether any of these topics may have changed after `epoch`; unknown ones count
        too.
        """
        return any(self._latest_possible_change_epoch(name) > epoch for name in names)

    def _latest_possible_change_epoch(self, name: str) -> int:
        """Return the latest epoch at which a topic, which may be deleted, can have changed."""
        known = self._changed.get(name) or self._deleted.get(name)
        return self._forgotten if known is None else known

    def add_partitions(self, topic: Topic, assignments: Sequence[Sequence[int]]) -> None:
        """Append a partition for each list of replicas (node ids, the preferred leader first)."""
        before = len(topic.partitions)
        self._append_partitions(topic, assignments)
        if self.observe_change is not None:
            after = len(topic.partitions)
            self.observe_change(StateChange("partitions", "added", topic.name, before, after))

    def _append_partitions(self, topic: Topic, assignments: Sequence[Sequence[int]]) -> None:
        settings = self.in_force(topic.configs)
        for replicas in assignments:
            log = self.make_log(settings, self._clock, self.when_filled)
            # DEVIATION: other topics of the same request may be in a real broker's way.
            index = len(topic.partitions)
            partition = self.make_partition(topic.name, index, replicas, log)
            partition.topic_name = topic.name
            partition.is_open = not topic.unreadable
            partition.was_led = any(map(self.can_lead, replicas))
            topic.partitions.append(partition)
        self.partition_count += len(assignments)
        self._update_never_led_names(topic)
        self._record_change(topic.name)

    def _update_never_led_names(self, *topics: Topic) -> None:
        for topic in topics:
            (self._unled.discard if topic.has_any_partition_ever_been_led else self._unled.add)(
                topic.name
            )

    def replace_configs(self, topic: Topic, configs: Mapping[str, str]) -> None:
        """Replace the topic's own settings; its logs use the new ones immediately."""
        assert self._mapping_schema[topic.name] is topic
        before = dict(topic.configs) if self.observe_change is not None else {}
        self._set_valid_configs(topic, configs)
        self.when_changed(topic.name)
        if self.observe_change is not None:
            observe_changed_settings(
                self.observe_change, f"topic {topic.name}", before, topic.configs
            )

    def _set_valid_configs(self, topic: Topic, configs: Mapping[str, str]) -> None:
        kept = {key: value for key, value in configs.items() if self.is_readable(key, value)}
        if topic.unreadable or len(kept) < len(configs):
            topic.unreadable = frozenset(configs.keys() - kept.keys())
        topic.configs.clear()
        topic.configs.update(kept)

    def elect_leader(self, partition: Partition, leader_id: int) -> None:
        """Elect another replica, or NOBODY, in a new leader epoch, and wake waiting fetches.

        A leader that was not in sync becomes the only replica in the ISR; no other is eligible.
        """
        assert leader_id == NOBODY or leader_id in partition.replicas
        log = partition.log  # with the records of the old epoch
        before, partition.leader_id = partition.leader_id, leader_id
        partition.leader_epoch += 1
        if leader_id != NOBODY:
            self._mark_partition_led(partition)
            log.begin_leader_epoch(partition.leader_epoch)
        if leader_id != NOBODY and leader_id not in partition.isr:
            partition.isr = [leader_id]
            partition.eligible = partition.last_known = _shared_replica_list(())
        self._record_change_of_existing_topic(partition)
        log.notify()
        if self.observe_change is not None and before != leader_id:
            name = f"{partition.topic_name}-{partition.index}"
            self.observe_change(StateChange("leader", "changed", name, before, leader_id))

    def set_in_sync_replicas(self, partition: Partition, isr: Sequence[int]) -> None:
        """Set the in-sync replicas."""
        assert set(isr) <= set(partition.replicas)
        if partition.isr != list(isr):
            partition.isr = _shared_replica_list(tuple(isr))
            self._record_change_of_existing_topic(partition)

    def replace_replicas(self, partition: Partition, replicas: Sequence[int]) -> None:
        """Replace the replicas, all in sync; the leader stays if it is one of them."""
        assert replicas
        partition.replicas = partition.isr = _shared_replica_list(tuple(replicas))
        partition.eligible = partition.last_known = _shared_replica_list(())
        self._mark_partition_led(partition)
        self._record_change_of_existing_topic(partition)
        if partition.leader_id not in replicas:
            self.elect_leader(partition, replicas[0])

    def _mark_partition_led(self, partition: Partition) -> None:
        partition.was_led = True
        if partition.topic_name in self._unled:
            self._update_never_led_names(self._mapping_schema[partition.topic_name])

    def delete_topic(self, name: str) -> None:
        """Delete a topic and wake requests waiting for its records; raise KeyError if unknown."""
        topic = self._mapping_schema.pop(name)
        del self._by_id[topic.topic_id]
        self._forget_metric_name(name)
        self._unled.discard(name)
        self.partition_count -= len(topic.partitions)
        for partition in topic.partitions:
            partition.log_without_flush.close_deleted()
        self._record_change(name)
        self._remember_deletion_epoch(topic, self._changed.pop(name))
        self.deletions += 1
        self.when_deleted(topic.topic_id)
        if self.observe_change is not None:
            before = {"partitions": len(topic.partitions), **topic.configs}
            self.observe_change(StateChange("topic", "removed", name, before=before))

    def _forget_metric_name(self, name: str) -> None:
        alike = name_in_metrics(name)
        kept = tuple(other for other in self._by_metric_name.pop(alike) if other != name)
        if kept:
            self._by_metric_name[alike] = kept

    def _remember_deletion_epoch(self, topic: Topic, epoch: int) -> None:
        """Remember the epoch of a deletion; beyond DELETED_NAMES_MAX names, drop the oldest."""
        name = topic.name
        self._deleted_ids[topic.topic_id] = name
        if len(self._deleted_ids) > DELETED_NAMES_MAX:
            del self._deleted_ids[next(iter(self._deleted_ids))]
        self._deleted.pop(name, None)
        self._deleted[name] = epoch
        if len(self._deleted) > DELETED_NAMES_MAX:
            self._forgotten = self._deleted.pop(next(iter(self._deleted)))
