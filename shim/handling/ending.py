"""What the end of a transaction writes: a marker on each of its partitions."""

from shim.handling.appending import append_marker
from shim.state.groups import Groups
from shim.state.topics import Partition, Topics
from shim.state.transactions import Transaction

OFFSETS_TOPIC = "__consumer_offsets"
"""Its markers are for the groups, which keep offsets elsewhere."""
COORDINATOR_EPOCH = 0
"""That of the leader of the transactional id's partition, which never changes here."""


def write_markers(
    ended: Transaction,
    epoch: int,
    topics: Topics,
    groups: Groups,
    *,
    commit: bool,
    now_ms: int,
) -> None:
    """Write `ended`'s markers with a producer epoch; they come too late where a newer one wrote."""
    owner = (ended.producer_id, epoch)
    for name, index in ended.partitions:
        partition = topics.partition(name, index)
        if partition is None or _is_newer(partition, *owner):
            continue
        if name == OFFSETS_TOPIC:
            log = partition.log
            log.producers.ended(
                owner, COORDINATOR_EPOCH, log.end_offset, now_ms, is_committed=commit
            )
            groups.end_transaction(ended.producer_id, committed=commit)
        else:
            append_marker(
                partition,
                owner,
                commit=commit,
                coordinator_epoch=COORDINATOR_EPOCH,
                now_ms=now_ms,
            )


def _is_newer(partition: Partition, producer_id: int, epoch: int) -> bool:
    known = partition.log.producers.get(producer_id)
    return known is not None and known.epoch > epoch
