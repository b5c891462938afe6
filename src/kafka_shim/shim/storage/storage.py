"""Writes changes at the end of each turn of the event loop, before any response is sent."""

import asyncio
import contextlib
import sqlite3
import struct
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, AclFilter, Actor
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.config import Config
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.logs.log import StoredBatch
from kafka_shim.shim.state.logs.log_settings import EffectiveLogSettings
from kafka_shim.shim.storage import group_rows, settings_rows, topic_rows
from kafka_shim.shim.storage.database import LOGS_MAX, OFFSET_BITS, Batch, Database, Row
from kafka_shim.shim.storage.group_changes import PersistedGroups
from kafka_shim.shim.storage.persisted_log import ABORTED, PRODUCER, PersistedLog
from kafka_shim.shim.storage.settings_rows import (
    PRODUCER_IDS,
    ROW_OF,
    SECTION_OF,
    SECTIONS,
    as_json_text,
)
from kafka_shim.shim.storage.uncommitted_changes import FiringReportingClock, UncommittedChanges
from kafka_shim.text.logs import Log

log = Log("shim.storage")

STARTS, CLUSTER_ID = "starts", "cluster-id"
FLUSHED_S = 0.1
"""After which batches that came are in the database."""
_ACLS_AT_ONCE = 1000
_UNKNOWN = (None,)


class Storage:
    """The data directory of a cluster."""

    def __init__(self, directory: Path) -> None:
        """Open the directory. Raise ConfigError if it cannot be used."""
        self._directory = directory
        self._where = f"--data-dir {directory}"
        self._database = Database(directory)
        self._waiting: list[Callable[[], None]] = []
        self._marks = UncommittedChanges(self._schedule_commit)
        self._written: dict[str, dict[tuple[str, str], str]] = {}  # rows of sections
        self._groups = PersistedGroups()
        self._logs = 0
        self._is_cleared = False
        self._is_planned = False
        self._flushing: asyncio.TimerHandle | None = None
        self.is_request_in_progress = False
        """Whether a request is worked on whose answer, if only an empty one, is sent then."""
        self.failure: Exception | None = None
        self.when_failed: Callable[[], None] = lambda: None

    # changes

    def attach_cluster(self, cluster: Cluster) -> None:
        """Observe a cluster's stores; to be called again after each `Cluster.begin`."""
        marks = self._marks
        self._cluster = cluster
        topics, groups = cluster.topics, cluster.groups
        topics.make_log = self._create_persisted_log
        topics.when_changed = marks.mark_topic
        groups.when_touched = marks.mark_group
        groups.clock_of_group = partial(self._clock_of_group, cluster.clock)
        groups.offsets.when_changed = marks.mark_offset
        groups.offsets.when_held = marks.mark_pending_offsets
        groups.zookeeper_offsets.when_changed = self._on_zookeeper_offset
        cluster.share_states.set_change_listener(marks.mark_share_partition)
        cluster.transactions.when_touched = marks.mark_transaction
        cluster.users.when_changed = partial(marks.mark_entry, "users")
        cluster.tokens.when_changed = partial(marks.mark_entry, "tokens")
        cluster.quotas.when_entry_changed = partial(marks.mark_entry, "quotas")
        cluster.configs.when_named_changed = partial(marks.mark_entry, "named configs")
        authorizer = cluster.policy.authorizer
        if isinstance(authorizer, StandardAuthorizer):
            authorizer.store.add_observer(marks)

    def _clock_of_group(self, clock: Clock, group_id: str) -> Clock:
        return FiringReportingClock(clock, partial(self._marks.mark_group, group_id))

    def _on_zookeeper_offset(self, group_id: str, topic_id: bytes, partition: int) -> None:
        self._marks.zookeeper.add((group_id, topic_id, partition))
        self._marks.mark_rows_changed()

    def _create_persisted_log(
        self, settings: EffectiveLogSettings, clock: Clock, when_filled: Callable[[], None]
    ) -> PersistedLog:
        self._logs += 1
        if self._logs >= LOGS_MAX:
            raise ConfigError(f"{self._where}: no room for more than {LOGS_MAX} partitions")
        return PersistedLog(settings, clock, when_filled, self._marks, self._logs)

    def attach_reset_cluster(self, cluster: Cluster) -> None:
        """Make the next commit replace what was written, since the cluster was reset."""
        self._marks.clear_all()
        self._written.clear()
        self._groups.clear()
        self._is_cleared = True
        self.attach_cluster(cluster)
        self._mark_all_sections()

    def mark_handled_request(self, api_key: int) -> None:
        """Record that a request of this API was handled."""
        section = SECTION_OF.get(api_key)
        if section is not None:
            self._marks.mark_section(section)

    def mark_unreported_sections(self) -> None:
        """Record that anything may have changed, except what stores report themselves."""
        for name in (*SECTIONS.keys() - ROW_OF.keys(), "acls"):
            self._marks.mark_section(name)

    def _mark_all_sections(self) -> None:
        """Record that anything may differ from what is written."""
        for name in (*SECTIONS, "acls"):
            self._marks.mark_section(name)

    # commits

    def try_defer_response(self, send: Callable[[], None], *, commits_now: bool = False) -> bool:
        """Return whether a response must wait for a commit; `send` is called after it.

        `commits_now`: the response cannot wait, so commit now.
        """
        self.is_request_in_progress = False
        if not self._marks.is_marked:
            return False
        if commits_now or self._loop_has_no_ready_callbacks():
            self.commit()
            if self.failure is None:
                return False
        self._waiting.append(send)
        self._schedule_commit()
        return True

    def _loop_has_no_ready_callbacks(self) -> bool:
        """Return whether no other work is left in this turn, as far as the event loop shows it."""
        return not getattr(asyncio.get_running_loop(), "_ready", _UNKNOWN)

    def _schedule_commit(self) -> None:
        """Commit after this iteration of the loop, or with the response to the current request.
        Before the loop runs, `commit` is called in time.
        """
        if self._is_planned or self.is_request_in_progress:
            return
        try:
            asyncio.get_running_loop().call_soon(self.commit)
        except RuntimeError:
            return
        self._is_planned = True

    def commit(self) -> None:
        """Write the changes, then send the waiting responses."""
        self._is_planned = False
        if self._marks.is_marked and self.failure is None:
            try:
                self._write_changes()
            except (sqlite3.Error, OSError) as error:
                self._on_write_failure(error)
                return
        if self._waiting and self.failure is None:
            waiting, self._waiting = self._waiting, []
            for send in waiting:
                send()

    def _on_write_failure(self, error: Exception) -> None:
        self.failure = error
        # for a full disk, a traceback does not help
        log.error("cannot write", directory=str(self._directory), reason=str(error))
        self._waiting.clear()
        self.when_failed()

    def _schedule_journal_commit(self) -> None:
        """Commit the journal's batches soon, for other programs that read it."""
        if self._flushing is None and self._database.has_batches_in_journal:
            with contextlib.suppress(RuntimeError):  # before the loop runs
                loop = asyncio.get_running_loop()
                self._flushing = loop.call_later(FLUSHED_S, self._commit_journal)

    def _commit_journal(self) -> None:
        self._flushing = None
        if self.failure is None:
            try:
                self._database.commit_journal_batches()
            except (sqlite3.Error, OSError) as error:
                self._on_write_failure(error)

    def _write_changes(self) -> None:
        marks, cluster = self._marks, self._cluster
        cluster.groups.records.write_all_partitions()
        if not marks.has_rows:
            self._database.append_to_journal(
                [
                    (kept.number << OFFSET_BITS | batch.base_offset, batch.is_clean, batch.payload)
                    for kept, batch in marks.batches
                ]
            )
            marks.clear_written_batches()
            self._schedule_journal_commit()
            return
        rows = list(self._take_changed_rows(marks, cluster))
        rewritten = [log for log, changes in marks.producers.items() if changes.is_whole]
        prefixes = {log.row_key_prefix for log in rewritten} | {
            f"{number}/" for number in marks.gone_logs
        }
        gone = [(number, 0, 1 << 40) for number in marks.gone_logs]
        gone += [
            (kept.number, 0, kept.first_batch_offset) for kept in marks.logs if not kept.is_closed
        ]
        batches = [
            _database_batch(kept, batch)
            for kept, batch in marks.batches
            if not kept.is_closed and (kept not in marks.logs or kept.still_has_batch(batch))
        ]
        if (
            rows or gone or batches or prefixes or self._is_cleared
        ):  # there may be no change, such as after a heartbeat
            self._database.commit(
                gone,
                batches,
                rows,
                [(part, prefix) for prefix in prefixes for part in (PRODUCER, ABORTED)],
                clears_first=self._is_cleared,
            )
        self._is_cleared = False
        marks.clear_all()

    def _take_changed_rows(self, marks: UncommittedChanges, cluster: Cluster) -> Iterator[Row]:
        """Yield changed rows of everything except batches."""
        if self._is_cleared:
            yield "meta", CLUSTER_ID, cluster.cluster_id
            yield "meta", STARTS, str(self._starts)
        yield from self._changed_topic_rows(marks, cluster)
        yield from self._changed_group_rows(marks, cluster)
        for transactional_id in marks.transactions:
            if transactional_id:
                value = topic_rows.transaction_row_json(cluster, transactional_id)
                yield "transaction", transactional_id, value
            yield "meta", PRODUCER_IDS, str(cluster.transactions.next_producer_id)
        yield from self._changed_acl_rows(marks, cluster)
        for name in marks.sections & SECTIONS.keys():
            yield from self._changed_section_rows(name, SECTIONS[name](cluster))
            if name in ROW_OF:
                del self._written[name]
        for name, key in marks.entries:
            yield ROW_OF[name](cluster, key)

    def _changed_topic_rows(self, marks: UncommittedChanges, cluster: Cluster) -> Iterator[Row]:
        for name in marks.topics:
            yield "topic", name, topic_rows.topic_row_json(cluster.topics.get(name))
        for number in marks.gone_logs:
            yield "log", str(number), None
        for log_with_producers, changes in marks.producers.items():
            if not log_with_producers.is_closed:
                yield from log_with_producers.take_changed_rows(changes)
        for kept in marks.logs:
            if not kept.is_closed:
                yield "log", str(kept.number), as_json_text(kept.log_row())

    def _changed_group_rows(self, marks: UncommittedChanges, cluster: Cluster) -> Iterator[Row]:
        groups = cluster.groups
        for group_id in marks.groups:
            group = groups.peek_group(group_id)
            yield from self._groups.take_changed_rows(group_id, group)
        for part, offsets, changed in (
            (group_rows.OFFSET, groups.offsets, marks.offsets),
            (group_rows.ZOOKEEPER, groups.zookeeper_offsets, marks.zookeeper),
        ):
            for key in changed:
                yield (
                    part,
                    group_rows.offset_row_key(*key),
                    group_rows.offset_row_json(offsets, *key),
                )
        for group_id, producer_id in marks.held:
            value = group_rows.pending_offsets_json(groups.offsets, group_id, producer_id)
            yield group_rows.HELD, as_json_text([group_id, producer_id]), value
        for share_key in marks.shares:
            yield (
                "share-partition",
                as_json_text(share_key),
                group_rows.share_state_json(cluster, share_key),
            )

    def _changed_acl_rows(self, marks: UncommittedChanges, cluster: Cluster) -> Iterator[Row]:
        authorizer = cluster.policy.authorizer
        if isinstance(authorizer, StandardAuthorizer):
            for acl in marks.acls:
                yield "acl", as_json_text(acl), "" if acl in authorizer.store else None
        elif authorizer is not None and "acls" in marks.sections:
            rows = {("acl", as_json_text(acl)): "" for acl in authorizer.acls(AclFilter())}
            yield from self._changed_section_rows("acls", rows)

    def _changed_section_rows(
        self, section: str, rows: dict[tuple[str, str], str]
    ) -> Iterator[Row]:
        before = self._written.get(section, {})
        for (part, key), value in rows.items():
            if before.get((part, key)) != value:
                yield part, key, value
        for part, key in before.keys() - rows.keys():
            yield part, key, None
        self._written[section] = rows

    # the start and the end

    def restore_cluster(self, cluster: Cluster) -> bool:
        """Restore a new cluster; return whether there was anything to restore."""
        self.attach_cluster(cluster)
        rows: dict[str, dict[str, str]] = {}
        for part, key, value in self._database.read_all_rows():
            rows.setdefault(part, {})[key] = value
        meta = rows.get("meta", {})
        self._starts = int(meta.get(STARTS, "0")) + 1
        self._adopt_cluster_id(cluster, meta.get(CLUSTER_ID, cluster.cluster_id))
        if self._starts > 1 and cluster.config.seed is not None:
            cluster.random.seed(
                f"{cluster.config.seed}/{self._starts}"
            )  # so that ids are not reused
        try:
            self._restore_rows(cluster, rows)
        except (msgspec.DecodeError, ValueError, KeyError, struct.error) as error:
            raise self._database.damaged_content_error(error) from error
        self._marks.clear_all()
        self._remember_section_rows(cluster, rows)
        topic_rows.advance_leader_epochs(cluster.topics)
        self._database.commit(
            [],
            [],
            [("meta", STARTS, str(self._starts)), ("meta", CLUSTER_ID, cluster.cluster_id)],
        )
        self._mark_all_sections()
        return bool(meta)

    def _adopt_cluster_id(self, cluster: Cluster, kept: str) -> None:
        """Keep the cluster id. Raise ConfigError if the configuration has another one."""
        if cluster.cluster_id not in (kept, Config().cluster_id):
            raise ConfigError(
                f"{self._where} belongs to cluster {kept}, not to {cluster.cluster_id}: leave out"
                " cluster.id, or choose another directory"
            )
        cluster.cluster_id = kept

    def _restore_rows(self, cluster: Cluster, rows: Mapping[str, Mapping[str, str]]) -> None:
        for put in settings_rows.PUT_BACK:
            put(cluster, rows)
        topic_rows.restore_topics(cluster, rows, self._database.read_all_batches())
        numbers = [
            partition.log.number
            for topic in cluster.topics
            for partition in topic.partitions
            if isinstance(partition.log, PersistedLog)
        ]
        self._logs = max(numbers, default=0)
        topic_rows.restore_transactions(cluster, rows)
        orders = group_rows.restore_groups(cluster, rows)
        groups = cluster.groups
        for group_id, orders_of_group in orders.items():
            group = groups.peek_group(group_id)
            assert group is not None
            self._groups.adopt_restored_group(group, orders_of_group)
        group_rows.restore_offset_rows(groups.offsets, rows, group_rows.OFFSET)
        group_rows.restore_offset_rows(groups.zookeeper_offsets, rows, group_rows.ZOOKEEPER)
        group_rows.restore_share_states(cluster, rows)
        authorizer = cluster.policy.authorizer
        acls = [msgspec.json.decode(key, type=Acl) for key in rows.get("acl", {})]
        if authorizer is not None:
            for start in range(0, len(acls), _ACLS_AT_ONCE):
                batch = acls[start : start + _ACLS_AT_ONCE]
                authorizer.create_acls(Actor("User:ANONYMOUS", "127.0.0.1"), batch)

    def _remember_section_rows(
        self, cluster: Cluster, rows: Mapping[str, Mapping[str, str]]
    ) -> None:
        """Remember the file's rows of parts of which only differences are written."""
        for name, section in SECTIONS.items():
            parts = {part for part, _ in section(cluster)}
            self._written[name] = {
                (part, key): value for part in parts for key, value in rows.get(part, {}).items()
            }
        if "acl" in rows:
            self._written["acls"] = {("acl", key): "" for key in rows["acl"]}

    def close_without_writing(self) -> None:
        """Release the directory as it is, since it could not be restored."""
        self._database.close_without_commit()

    def close(self) -> None:
        """Write the rest and release the directory, with one file (unless the disk is full)."""
        self.commit()
        if self._flushing is not None:
            self._flushing.cancel()
        if self.failure is not None:
            self._database.close_without_commit()
            return
        try:
            self._database.close()
        except (sqlite3.Error, OSError) as error:
            self._on_write_failure(error)


def _database_batch(kept: PersistedLog, batch: StoredBatch) -> Batch:
    return kept.number, batch.base_offset, batch.is_clean, batch.payload
