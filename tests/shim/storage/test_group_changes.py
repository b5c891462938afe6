"""After any sequence of requests, the rows of groups are those of their whole state."""

import random
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from kafka_shim.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from kafka_shim.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
)
from kafka_shim.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from kafka_shim.shim.state.groups.change_recording_dict import ChangeRecordingDict
from kafka_shim.shim.state.groups.classic.classic_group import ClassicGroup
from kafka_shim.shim.state.groups.group import GroupType
from kafka_shim.shim.state.groups.share.share_group import ShareGroup
from kafka_shim.shim.storage import group_rows, member_rows
from kafka_shim.shim.storage.settings_rows import as_json_text
from tests.shim.state.test_topology_descriptions import (
    AVAILABLE,
    NOT_STORED,
    PLUGIN,
    joined,
    status,
    told,
)
from tests.shim.storage.kept import KeptStage
from tests.shim.storage.test_members import HEARTBEATS, JOINS


def written_groups(stage: KeptStage) -> dict[str, Any]:
    """Return the rows of groups in the file: members and topics in their order, without it."""
    groups: dict[str, Any] = {}
    entries: dict[tuple[str, str], list[tuple[int, str, dict[str, Any]]]] = {}
    for part, key, value in stage.storage._database.read_all_rows():
        if part == group_rows.GROUP:
            groups[key] = {"group": decoded(value)}
        elif part in (group_rows.MEMBER, group_rows.INITIALIZED):
            group_id, name = msgspec.json.decode(key)
            row = decoded(value)
            entries.setdefault((group_id, part), []).append((row.pop("order"), name, row))
    for (group_id, part), rows in entries.items():
        in_order = sorted(rows, key=lambda row: row[0])
        groups[group_id][part] = [(name, row) for _, name, row in in_order]
    return groups


def whole_groups(stage: KeptStage) -> dict[str, Any]:
    """Return what the rows must be, by looking at everything; nothing of rebalancing groups."""
    groups = {}
    for group in stage.cluster.groups:
        if isinstance(group, ClassicGroup):
            if group_rows.is_settled(group):
                row: Any = group_rows.classic_group_row(group)
                groups[group.group_id] = {"group": plain(row)}
            continue
        epoch_group = cast("member_rows.EpochGroup", group)
        targets = epoch_group.target.by_member
        assert targets.keys() <= epoch_group.members.keys()
        found = groups[group.group_id] = {"group": plain(member_rows.group_row(epoch_group))}
        members = [
            (member_id, without_order(member_rows.member_row(member, targets.get(member_id), 0)))
            for member_id, member in epoch_group.members.items()
        ]
        if members:
            found[group_rows.MEMBER] = members
        if isinstance(group, ShareGroup) and group.initialized_partitions:
            found[group_rows.INITIALIZED] = [
                (plain(topic_id), without_order(group_rows.InitializedRow(0, sorted(held))))
                for topic_id, held in group.initialized_partitions.items()
            ]
    return groups


def without_order(value: object) -> Any:
    row = plain(value)
    del row["order"]
    return row


def plain(value: object) -> Any:
    return decoded(as_json_text(value))


def decoded(text: str) -> Any:
    """Return a row with its sets in a fixed order."""
    row = msgspec.json.decode(text)
    if isinstance(row, dict):
        row |= {"topic_names": sorted(row.get("topic_names", ()))}
        row |= {"matching": {name: sorted(at) for name, at in row.get("matching", {}).items()}}
    return row


def check(stage: KeptStage) -> None:
    stage.storage.commit()
    written, whole = written_groups(stage), whole_groups(stage)
    for group_id in whole:
        assert written[group_id] == whole[group_id]
    rebalancing = written.keys() - whole.keys()
    for group_id in rebalancing:
        group = stage.cluster.groups.peek_group(group_id)
        assert isinstance(group, ClassicGroup)
        assert not group_rows.is_settled(group)


def restarted(stage: KeptStage) -> KeptStage:
    """Return a stage that continues after a kill, with the same settled groups."""
    before = whole_groups(stage)
    stage.kill()
    later = KeptStage(stage.directory)
    restored = whole_groups(later)
    assert {group_id: restored[group_id] for group_id in before} == before
    return later


class Clients:
    """Random members of random groups."""

    def __init__(self, stage: KeptStage, seed: int) -> None:
        self.stage = stage
        self.random = random.Random(seed)
        self.epochs: dict[tuple[str, str, str | None], int] = {}
        self.number = 0

    def step(self) -> None:
        match self.random.randrange(12):
            case 0:
                self.stage.clock.advance(self.random.choice([1_000, 5_000, 20_000, 60_000]))
            case 1:
                name = f"t{self.random.randrange(6)}"
                if self.stage.cluster.topics.get(name) is None:
                    self.stage.topic(name, self.random.randint(1, 4))
            case 2 | 3 | 4:
                self.join()
            case _:
                self.continue_or_leave()

    def join(self) -> None:
        kind = self.random.choice(list(JOINS))
        self.number += 1
        instance = f"i{self.random.randrange(3)}" if self.random.random() < 0.3 else None
        fields = dict(JOINS[kind])
        fields.pop("instance_id", None)
        if kind == "consumer":
            if self.random.random() < 0.3:
                fields.pop("subscribed_topic_names")
                fields["subscribed_topic_regex"] = self.random.choice(["t.*", "t[12]"])
            else:
                fields["subscribed_topic_names"] = [f"t{self.random.randrange(6)}", "orders"]
        elif kind == "share":
            fields["subscribed_topic_names"] = [f"t{self.random.randrange(6)}"]
        else:
            fields["process_id"] = f"p{self.random.randrange(4)}"
        if kind != "share":
            fields["instance_id"] = instance
        name = f"m{self.number}"
        response = self.beat(kind, name, 0, **fields)
        if not response.error_code:
            self.epochs[kind, name, instance if kind != "share" else None] = response.member_epoch

    def continue_or_leave(self) -> None:
        if not self.epochs:
            return
        who = kind, name, instance = self.random.choice(list(self.epochs))
        epoch, more = self.epochs[who], dict[str, Any]()
        if kind != "share":
            more["instance_id"] = instance
        if self.random.random() < 0.2:
            epoch = -2 if instance is not None and self.random.random() < 0.5 else -1
        elif kind == "consumer" and self.random.random() < 0.5:
            more["topic_partitions"] = []
        response = self.beat(kind, name, epoch, **more)
        if response.error_code or epoch < 0:
            del self.epochs[who]
        else:
            self.epochs[who] = response.member_epoch

    def beat(self, kind: str, name: str, epoch: int, **more: Any) -> Any:
        api, request = HEARTBEATS[kind]
        version = 0 if kind == "streams" else 1
        row = request(f"{kind} group", name, member_epoch=epoch, **more)
        return self.stage.ask(api, version, row)


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_groups_with_epochs_are_those_of_the_whole_state(tmp_path: Path, seed: int) -> None:
    stage = KeptStage(tmp_path)
    stage.topic("orders", 3)
    clients = Clients(stage, seed)
    for _ in range(6):
        for _ in range(40):
            clients.step()
            check(clients.stage)
        clients.stage = restarted(clients.stage)
    kinds = {group.type for group in clients.stage.cluster.groups}
    assert kinds == {GroupType.CONSUMER, GroupType.SHARE, GroupType.STREAMS}


def test_a_heartbeat_without_a_change_writes_nothing(tmp_path: Path) -> None:
    stage = KeptStage(tmp_path)
    stage.topic("orders", 3)
    for kind, (api, request) in HEARTBEATS.items():
        version = 1 if kind == "share" else 0
        epoch = 0
        for _ in range(4):
            fields = JOINS[kind] if epoch == 0 else {}
            row = request("g" + kind, "m", member_epoch=epoch, **fields)
            epoch = stage.ask(api, version, row).member_epoch
            stage.clock.advance(4_000)
            stage.storage.commit()
        commit = stage.storage._database._commit.number
        assert stage.ask(api, version, request("g" + kind, "m", member_epoch=epoch)).error_code == 0
        stage.storage.commit()
        assert stage.storage._database._commit.number == commit


def test_rows_of_classic_groups_are_those_of_the_whole_state(tmp_path: Path) -> None:
    stage = KeptStage(tmp_path)
    rng = random.Random(1)
    members: dict[str, str | None] = {}
    settled = 0
    for _ in range(250):
        instance = rng.choice([None, "a", "b"])
        who = rng.choice([*members, ""])
        match rng.randrange(6):
            case 0:
                stage.clock.advance(rng.choice([1_000, 4_000, 12_000]))
            case 1:
                named = [MemberIdentity(who, members.get(who))] if who else []
                stage.ask(ApiKey.LEAVE_GROUP, 4, LeaveGroupRequest("g", members=named))
                members.pop(who, None)
            case 2:
                group = stage.cluster.groups.peek_group("g")
                generation = group.rebalance.generation_id if isinstance(group, ClassicGroup) else 0
                beat = HeartbeatRequest("g", generation, who, members.get(who))
                stage.ask(ApiKey.HEARTBEAT, 4, beat)
            case _:
                join = JoinGroupRequest(
                    "g", 10_000, rng.choice([3_000, 9_000]), who, members.get(who, instance),
                    "consumer", [JoinGroupRequestProtocol("range", rng.choice([b"", b"x"]))],
                )  # fmt: skip
                stage.ask(ApiKey.JOIN_GROUP, 5, join)
        sync_leader(stage)
        group = stage.cluster.groups.peek_group("g")
        if isinstance(group, ClassicGroup):
            members = {name: member.instance_id for name, member in group.roster.members.items()}
            settled += group_rows.is_settled(group)
        check(stage)
        if rng.random() < 0.03:
            stage = restarted(stage)
    assert settled > 50


def sync_leader(stage: KeptStage) -> None:
    group = stage.cluster.groups.peek_group("g")
    if not isinstance(group, ClassicGroup) or group.rebalance.state.value != "CompletingRebalance":
        return
    assignments = [
        SyncGroupRequestAssignment(name, str(at).encode())
        for at, name in enumerate(group.roster.members)
    ]
    leader = group.roster.members[group.roster.leader_id]
    request = SyncGroupRequest(
        "g", group.rebalance.generation_id, leader.member_id, leader.instance_id,
        "consumer", group.rebalance.protocol_name, assignments,
    )  # fmt: skip
    stage.ask(ApiKey.SYNC_GROUP, 5, request)


def test_a_dictionary_records_changes_and_new_places() -> None:
    entries = ChangeRecordingDict({"a": 1, "b": 2, "c": 3})
    entries.start_recording()
    entries["a"] = 5
    entries.pop("b", 0)
    entries.pop("d", 0)
    entries["e"] = 6
    entries["b"] = 7
    del entries["c"]
    entries.update({"a": 8, "f": 9})
    changed = entries.changed_keys
    assert changed is not None
    assert changed == {"a": False, "b": True, "c": True, "e": True, "f": True}
    assert [key for key in changed if key in entries] == ["a", "e", "b", "f"]
    assert list(entries) == ["a", "e", "b", "f"]
    for method in ("clear", "popitem", "setdefault", "__ior__"):  # these would not be recorded
        assert method not in vars(ChangeRecordingDict)


def test_a_dictionary_that_nobody_looks_at_records_nothing() -> None:
    entries = ChangeRecordingDict({"a": 1})
    entries["b"] = 4
    assert entries.changed_keys is None


# descriptions of topologies after a restart, as with the in-memory plug-in of Kafka 4.4.0
BACKOFF_MS = 40_000
"""Time after which a description is requested again if the client did not send it."""


def test_descriptions_are_not_requested_again_after_a_restart(tmp_path: Path) -> None:
    stage = KeptStage(tmp_path, "4.4", properties={PLUGIN: "in memory"})
    assert joined(stage)
    assert told(stage) == 0
    assert status(stage) == AVAILABLE
    again = stage.again()
    assert status(again) == NOT_STORED
    again.clock.advance(BACKOFF_MS)
    request = StreamsGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=1)
    response = again.ask(ApiKey.STREAMS_GROUP_HEARTBEAT, 1, request)
    assert (response.error_code, response.topology_description_required) == (0, False)
    assert told(again) == 0
    assert status(again) == AVAILABLE
