"""Offsets committed in transactions: when they are visible, and who may commit them."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from tests.recordings.groups.classic_play import ClassicPlay
from tests.recordings.groups.migration_play import begun, rejoin
from tests.recordings.groups.modern_play import ModernPlay


class Transaction:
    """A transactional producer."""

    def __init__(self, play: ClassicPlay) -> None:
        self.play = play
        transactional_id = play.text("-tx")
        request = {"transactional_id": transactional_id, "transaction_timeout_ms": 60_000}
        response = play.ask(ApiKey.INIT_PRODUCER_ID, 4, request)
        for _ in range(100):
            if response.error_code == 0:
                break
            play.peer.pause(100)
            response = play.ask(ApiKey.INIT_PRODUCER_ID, 4, request)
        self.identity = {
            "transactional_id": transactional_id,
            "producer_id": response.producer_id,
            "producer_epoch": response.producer_epoch,
        }

    def add(self, group: str) -> None:
        """Add a group's offsets, once the markers of the last transaction are written."""
        api, play = ApiKey.ADD_OFFSETS_TO_TXN, self.play
        request = self.identity | {"group_id": group}
        response = play.ask(api, 3, request)
        for _ in range(100):
            if response.error_code != ErrorCode.CONCURRENT_TRANSACTIONS:
                break
            play.peer.pause(100)
            response = play.ask(api, 3, request)
        play.keep("add", api, play.version(api, 3), response)

    def commit(
        self,
        label: str,
        group: str,
        topic: str,
        offset: int,
        *who: Any,
        version: int = 3,
        instance: str | None = None,
        index: int = 0,
    ) -> None:
        row = {
            "partition_index": index,
            "committed_offset": offset,
            "committed_metadata": "tx",
        }
        generation, member = who or (-1, "")
        request = self.identity | {
            "group_id": group,
            "generation_id_or_member_epoch": generation,
            "member_id": member,
            "group_instance_id": instance,
            "topics": [{"name": topic, "partitions": [row]}],
        }
        self.play.call(label, ApiKey.TXN_OFFSET_COMMIT, version, request)

    def end(self, *, committed: bool) -> None:
        request = self.identity | {"committed": committed}
        self.play.call("end", ApiKey.END_TXN, 3, request)
        self.play.peer.pause(700)


def in_transactions(play: ClassicPlay) -> None:
    (topic,) = play.topic("t")
    group = play.text("g")
    both = [(topic, [0, 1])]
    play.commit("before", group, [(topic, 0, 1), (topic, 1, 1)])
    transaction = Transaction(play)
    for committed in (False, True):
        transaction.add(group)
        transaction.commit("in the transaction", group, topic, 77 if committed else 66)
        play.fetch("unstable", group, both)
        play.fetch("stable", group, both, stable=True)
        play.fetch("all, stable", group, None, stable=True)
        transaction.end(committed=committed)
        play.fetch("ended", group, both, stable=True)
    transaction.add(group)
    transaction.commit("overtaken", group, topic, 100)
    play.commit("overtakes", group, [(topic, 0, 200)])
    play.fetch("unstable", group, both, stable=True)
    transaction.end(committed=True)
    play.fetch("the later counts", group, both, stable=True)


def transactions_of_new_groups(play: ClassicPlay) -> None:
    (topic,) = play.topic("t")
    group = play.text("g")
    wanted = [(topic, [0])]
    transaction = Transaction(play)
    transaction.add(group)
    transaction.commit("new group", group, topic, 5)
    play.describe("new group", group)
    play.list("new group")
    play.fetch("all, stable", group, None, stable=True)
    play.fetch("stable", group, wanted, stable=True)
    play.fetch("unstable", group, wanted)
    transaction.end(committed=True)
    play.fetch("ended", group, wanted, stable=True)
    play.describe("ended", group)
    deleted = play.text("d")
    transaction.add(deleted)
    transaction.commit("to be deleted", deleted, topic, 5)
    play.delete("with pending offsets", deleted)
    play.fetch("deleted", deleted, wanted, stable=True)
    transaction.end(committed=True)
    play.fetch("deleted, ended", deleted, wanted, stable=True)
    transaction.commit("empty group id", "", topic, 1)


def transactions_of_members(play: ClassicPlay) -> None:
    (topic,) = play.topic("t")
    group = play.text("g")
    member = play.join("joins", group).member_id
    transaction = Transaction(play)
    transaction.add(group)
    whos = {
        "itself": (1, member),
        "nobody": (-1, ""),
        "a generation alone": (1, ""),
        "other generation": (9, member),
        "unknown": (1, "bogus"),
        "unknown without generation": (-1, "bogus"),
    }
    for label, who in whos.items():
        transaction.commit(f"to sync: {label}", group, topic, 5, *who)
    play.sync("syncs", group, 1, member)
    for label, who in whos.items():
        transaction.commit(f"stable: {label}", group, topic, 6, *who)
    transaction.end(committed=True)
    play.fetch("ended", group, [(topic, [0])], stable=True)
    play.leave("leaves", group, (member, None))
    transaction.add(group)
    for label, who in whos.items():
        transaction.commit(f"empty: {label}", group, topic, 7, *who)
    for label, who in whos.items():
        transaction.commit(f"no group: {label}", play.text("x"), topic, 7, *who)
    transaction.end(committed=True)
    play.fetch("ended then", group, [(topic, [0])], stable=True)


def transactions_of_both_protocols(play: ModernPlay) -> None:
    """A consumer group with a classic and a consumer protocol member (KIP-848)."""
    if not play.has(ApiKey.CONSUMER_GROUP_HEARTBEAT):
        return
    (topic,) = play.topic("t")
    group = play.text("g")
    member = begun(play, group, topic)
    play.enter("new", group, "m", topic)
    transaction = Transaction(play)
    transaction.add(group)
    _commit_as_anybody(play, transaction, "upgraded", group, topic, (member, 1))
    now = rejoin(play, "gives up one", group, member, topic, 0)
    play.beat("new has one", group, "m")
    _commit_as_anybody(play, transaction, "settled", group, topic, (member, now))
    transaction.end(committed=True)
    play.fetch("ended", group, [(topic, [0, 1])], stable=True)
    transaction.add(group)
    play.beat("new leaves", group, "m", -1)
    _commit_as_anybody(play, transaction, "downgraded", group, topic, (member, now))
    play.leave("classic leaves", group, (member, None))
    _commit_as_anybody(play, transaction, "empty", group, topic, (member, now))
    transaction.end(committed=True)
    play.fetch("ended then", group, [(topic, [0, 1])], stable=True)


def _commit_as_anybody(
    play: ModernPlay,
    transaction: Transaction,
    label: str,
    group: str,
    topic: str,
    classic: tuple[str, int],
) -> None:
    modern = ("m", play.epoch_of(group, "m"))
    for version in play.versions(ApiKey.TXN_OFFSET_COMMIT):
        if version < 3:
            continue
        title = f"{label}, {version}"
        for name, (member, epoch) in (("classic", classic), ("new", modern)):
            for step in (0, -1, 1):
                who = (epoch + step, member)
                for index in (0, 1):
                    place = f"{title}: {name} {step:+}, {index}"
                    transaction.commit(place, group, topic, 5, *who, version=version, index=index)
            transaction.commit(
                f"{title}: {name}, epoch -1", group, topic, 5, -1, member, version=version
            )
        for name, who in {"nobody": (-1, ""), "epoch alone": (1, ""), "x": (1, "x")}.items():
            transaction.commit(f"{title}: {name}", group, topic, 5, *who, version=version)
        transaction.commit(
            f"{title}: instance", group, topic, 5, -1, "", version=version, instance="i"
        )
