"""Committed offsets: OffsetCommit, OffsetFetch, OffsetDelete."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.classic_play import ClassicPlay, subscription
from tests.recordings.groups.offsets_in_transactions import (
    in_transactions,
    transactions_of_both_protocols,
    transactions_of_members,
    transactions_of_new_groups,
)

COMMIT = ApiKey.OFFSET_COMMIT
FETCH = ApiKey.OFFSET_FETCH


def every_commit(play: ClassicPlay) -> None:
    here, there = play.topic("t", "u")
    missing = play.unknown()
    for version in play.versions(COMMIT):
        group = play.text(f"{version}")
        offsets = [(here, 0, 5), (here, 1, 6), (here, 9, 6), (missing, 0, 1)]
        play.commit(f"commit {version}", group, offsets, version=version)
        play.commit(
            f"no metadata {version}", group, [(there, 0, 5)], version=version, metadata=None
        )
        for fetch in play.versions(FETCH):
            wanted = [(here, [0, 1, 7]), (there, [0]), (missing, [0])]
            play.fetch(f"fetch {version}.{fetch}", group, wanted, fetch)
            if fetch >= 2:
                play.fetch(f"fetch all {version}.{fetch}", group, None, fetch)


def odd_commits(play: ClassicPlay) -> None:
    (topic,) = play.topic("t")
    missing = play.unknown()
    for version in play.versions(COMMIT):

        def commit(
            label: str,
            suffix: str,
            *offsets: tuple[str, int, int],
            version: int = version,
            **more: Any,
        ) -> None:
            group = play.text(f"{suffix}{version}")
            play.commit(f"{label} {version}", group, offsets, version=version, **more)

        commit("generation of an unknown group", "g", (topic, 0, 5), generation=1, member="m")
        commit("member of an unknown group", "h", (topic, 0, 5), member="m")
        commit("nothing", "n")
        commit("missing topic", "m", (missing, 0, 5))
        commit("negative numbers", "o", (topic, 0, -1), (topic, -1, 2))
        commit("too much metadata", "l", (topic, 0, 5), metadata="x" * 4097)
        commit("much metadata", "k", (topic, 0, 5), (topic, 1, 7), metadata="x" * 4096)
        play.describe(
            f"groups {version}", *(play.text(f"{letter}{version}") for letter in "ghnmolk")
        )
        play.commit(f"empty group id {version}", "", [(topic, 0, 5)], version=version)
        for fetch in play.versions(FETCH):
            play.fetch(f"empty group id {version}.{fetch}", "", [(topic, [0])], fetch)
        play.delete(f"empty group id {version}", "")


def commits_without_fit(play: ClassicPlay) -> None:
    """Commits whose metadata is all too long create their group, which few requests show."""
    (topic,) = play.topic("t")

    def unfit(suffix: str) -> str:
        group = play.text(suffix)
        play.commit(f"unfit {suffix}", group, [(topic, 0, 5)], metadata="x" * 4097)
        return group

    play.heartbeat("a heartbeat", unfit("h"), 1, "m")
    play.delete("deleted", unfit("d"))
    play.delete("deleted again", play.text("d"))
    play.fetch("fetched", unfit("f"), None)
    group = unfit("j")
    play.join("unknown member", group, member="m")
    play.join("without a protocol", group, member="m", protocol_type="")
    group = unfit("g")
    play.describe("a group", group)
    play.list("a group")
    play.commit("of a generation", group, [(topic, 0, 5)], 5, "m")
    play.describe("after an error", group)
    play.commit("fits", group, [(topic, 0, 5)])
    play.describe("after a commit", group)
    if play.has(ApiKey.OFFSET_DELETE):
        play.delete_offsets("offsets of none", unfit("o"), topic)


def odd_fetches(play: ClassicPlay) -> None:
    (topic,) = play.topic("t")
    missing = play.unknown()
    group = play.text("g")
    play.commit("commit", group, [(topic, 0, 5), (topic, 1, 6)])
    for version in play.versions(FETCH):
        wanted = [(topic, [0]), (missing, [3])]
        play.fetch(f"unknown group {version}", play.text("x"), wanted, version)
        play.fetch(f"no topics {version}", group, [], version)
        play.fetch(f"no partitions {version}", group, [(topic, [])], version)
        play.fetch(f"a partition twice {version}", group, [(topic, [0, 0])], version)
        play.fetch(f"a topic twice {version}", group, [(topic, [0]), (topic, [1])], version)
        play.fetch(f"negative {version}", group, [(topic, [-1])], version)
        if version >= 2:
            play.fetch(f"all of an unknown group {version}", play.text("x"), None, version)
        if version >= 9:
            for member, epoch in (("m", 3), ("", 0), ("m", -1)):
                who: dict[str, Any] = {"member_id": member, "member_epoch": epoch}
                label = f"as {member!r} of epoch {epoch} {version}"
                play.fetch(label, group, [(topic, [0])], version, **who)
                play.fetch(
                    f"unknown group, {label}", play.text("x"), [(topic, [0])], version, **who
                )
        if version >= 8:
            parts = [
                play.fetch_request(group, [(topic, [0])]),
                play.fetch_request(play.text("x"), None),
                play.fetch_request("", [(topic, [0])]),
                play.fetch_request(group, None),
            ]
            groups = [row for part in parts for row in part["groups"]]
            play.call(f"many groups {version}", FETCH, version, {"groups": groups})
            if play.peer.release >= "4.1":  # earlier releases never respond
                play.call(f"no group {version}", FETCH, version, {"groups": []})


def of_members(play: ClassicPlay) -> None:
    (topic,) = play.topic("t")
    group = play.text()
    protocols = (("range", subscription([topic])),)
    member = play.join("joins", group, protocols=protocols).member_id
    by_name = [version for version in play.versions(COMMIT) if 0 < version < 10]
    whos = {
        "itself": (1, member),
        "nobody": (-1, ""),
        "a generation alone": (1, ""),
        "unknown": (1, "bogus"),
        "unknown without generation": (-1, "bogus"),
        "other generation": (4, member),
        "no generation": (-1, member),
    }
    for version in by_name:
        for label, who in whos.items():
            play.commit(
                f"to sync: {label} {version}", group, [(topic, 0, 1)], *who, version=version
            )
    play.sync("syncs", group, 1, member, {member: b"\1"})
    for version in by_name:
        for label, who in whos.items():
            play.commit(
                f"stable: {label} {version}", group, [(topic, 0, version)], *who, version=version
            )
    play.fetch("committed", group, [(topic, [0, 1])])
    play.begin_join(group, "b", protocols=protocols)
    play.waits("b", "b")
    for label, who in whos.items():
        play.commit(f"preparing: {label}", group, [(topic, 0, 50)], *who)
    play.begin_join(group, "a", member, protocols=protocols)
    play.outcome("a", "a")
    other = play.outcome("b", "b").member_id
    play.commit("old generation", group, [(topic, 0, 50)], 1, member)
    play.leave("a leaves", group, (member, None))
    play.leave("b leaves", group, (other, None))
    for label, who in whos.items():
        play.commit(f"empty: {label}", group, [(topic, 1, 7)], *who)
    play.fetch("in the end", group, None)


def deleting(play: ClassicPlay) -> None:
    if not play.has(ApiKey.OFFSET_DELETE):
        return
    here, there = play.topic("t", "u")
    group = play.text("g")
    member = play.join("joins", group, protocols=(("range", subscription([here])),)).member_id
    play.delete_offsets("to sync", group, here, there)
    play.sync("syncs", group, 1, member)
    play.commit("commit", group, [(here, 0, 1), (here, 1, 1), (there, 0, 1)], 1, member)
    play.delete_offsets("subscribed", group, here)
    play.delete_offsets("not subscribed", group, here, there)
    play.delete_offsets("missing topic", group, play.text("-nope"))
    play.delete_offsets("nothing", group)
    play.fetch("left", group, None)
    play.leave("leaves", group, (member, None))
    play.delete_offsets("empty", group, here, there, partitions=(0, 5))
    play.fetch("left then", group, None)
    play.delete_offsets("the last", group, here, partitions=(1,))
    play.fetch("none left", group, None)
    play.describe("none left", group)
    play.delete_offsets("no offsets", group, here)
    play.delete_offsets("unknown group", play.text("x"), here)
    play.delete_offsets("unknown group and topic", play.text("x"), play.text("-nope"))
    play.delete_offsets("empty group id", "", here)
    for suffix, kind, metadata in (
        ("connect", "connect", subscription([here])),
        ("garbage", "consumer", b"\xff"),
        ("nothing", "consumer", b""),
        ("other", "consumer", subscription([there])),
    ):
        group = play.text(suffix)
        response = play.join(suffix, group, protocol_type=kind, protocols=(("x", metadata),))
        play.sync(suffix, group, 1, response.member_id, protocol_type=kind, protocol_name="x")
        play.delete_offsets(suffix, group, here)


def cut_subscriptions(play: ClassicPlay) -> None:
    """Subscriptions that are too short for their version, or have trailing bytes."""
    if not play.has(ApiKey.OFFSET_DELETE):
        return
    here, there = play.topic("t", "u")
    whole = subscription([here])[2:]
    for label, metadata in (
        ("version 0 without user data", b"\0\0" + whole[:-4]),
        ("version 1 without owned partitions", b"\0\1" + whole),
        ("version 2 without generation", b"\0\2" + whole + bytes(4)),
        ("version 3 without rack", b"\0\3" + whole + bytes(8)),
        ("version 9", b"\0\x09" + whole),
        ("version -1", b"\xff\xff" + whole),
        ("bytes behind", b"\0\0" + whole + b"more"),
    ):
        group = play.text(label.replace(" ", "-"))
        member = play.join(label, group, protocols=(("x", metadata),)).member_id
        play.sync(label, group, 1, member, protocol_name="x")
        play.delete_offsets(label, group, here, there)


def deletions_twice(play: ClassicPlay) -> None:
    """An OffsetDelete with duplicate topics or partitions, some of them missing."""
    if not play.has(ApiKey.OFFSET_DELETE):
        return
    here, there = play.topic("t", "u")
    missing = play.unknown()
    for number, names in enumerate(
        (
            (here, missing, here),
            (missing, here, here),
            (missing, missing),
            (missing, here, missing),
            (here, there, here),
            (here, here, there, missing, there, here),
        )
    ):
        for partitions in ((0,), (0, 0), (0, 9, 0), (9, 9)):
            group = play.text(f"g{number}-{len(partitions)}{partitions[0]}")
            play.commit(f"{group} commits", group, [(here, 0, 1), (there, 1, 1)])
            label = f"{number}, {partitions}"
            play.delete_offsets(label, group, *names, partitions=partitions)


def topics_twice(play: ClassicPlay) -> None:
    """An OffsetCommit with duplicate topics: valid, of an unknown member, with a missing topic."""
    here, there = play.topic("t", "u")
    missing = play.unknown()
    for version in [version for version in play.versions(COMMIT) if version > 0]:
        for generation in (-1, 5):
            for names in ((here, there, here), (here, here), (missing, here, there, here)):
                rows = [
                    {
                        "name": name,
                        "topic_id": play.topic_ids[name],
                        "partitions": [{"partition_index": number % 2, "committed_offset": 1}],
                    }
                    for number, name in enumerate(names)
                ]
                request = {
                    "group_id": play.text(f"g{version}"),
                    "generation_id_or_member_epoch": generation,
                    "topics": rows,
                }
                play.call(f"{len(names)} topics, {generation}, {version}", COMMIT, version, request)


def deleted_topic(play: ClassicPlay) -> None:
    gone, stays = play.topic("t", "u")
    alone, both, joined = play.text("a"), play.text("b"), play.text("j")
    play.commit("alone", alone, [(gone, 0, 1)])
    play.commit("both", both, [(gone, 0, 1), (stays, 0, 1)])
    member = play.join("joined", joined).member_id
    play.sync("joined", joined, 1, member)
    play.commit("joined", joined, [(gone, 0, 1)], 1, member)
    play.list("before")
    play.delete_topic(gone)
    for group in (alone, both, joined):
        play.fetch(f"all of {group[-1]}", group, None)
        play.fetch(f"named of {group[-1]}", group, [(gone, [0]), (stays, [0])])
    play.describe("after", alone, both, joined)
    play.list("after")
    play.delete("alone", alone)


def missing_partitions(play: ClassicPlay) -> None:
    """Offsets of missing partitions (up to 1.1), which remain when the topic is deleted."""
    gone, stays = play.topic("gone", "stays", partitions=1)
    stray, both, nameless = play.text("-s"), play.text("-b"), ""
    for group in (stray, both, nameless):
        play.commit(f"missing one of {group[-1:]}", group, [(gone, 5, 3), (stays, 0, 1)])
        play.commit(f"negative one of {group[-1:]}", group, [(gone, -1, 4)])
    play.commit("an existing one", both, [(gone, 0, 2)])
    for turn in ("before", "after", "anew"):
        if turn == "after":
            play.delete_topic(gone)
            play.delete_topic(stays)
        elif turn == "anew":
            play.make_topics([gone], 1)
        for group in (stray, both, nameless):
            label = f"{group[-1:]}, {turn}"
            play.fetch(f"all of {label}", group, None, version=2)
            for version in (0, 1, 2):
                play.fetch(f"{label}, {version}", group, [(gone, [0, 5, -1])], version)
        play.describe(turn, stray, both)
        play.list(turn)
    for group in (stray, both, nameless):
        play.delete(f"delete {group[-1:]}", group)


SCENARIOS = (
    every_commit,
    odd_commits,
    commits_without_fit,
    odd_fetches,
    of_members,
    deleting,
    cut_subscriptions,
    deletions_twice,
    topics_twice,
    deleted_topic,
    in_transactions,
    transactions_of_new_groups,
    transactions_of_members,
    transactions_of_both_protocols,
    missing_partitions,
)
