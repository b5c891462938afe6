"""Describing and deleting groups, and finding their coordinators."""

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.classic_play import ClassicPlay

TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"


def describing(play: ClassicPlay) -> None:
    (topic,) = play.topic("t")
    simple, stable, missing = play.text("s"), play.text("j"), play.text("none")
    play.commit("commit", simple, [(topic, 0, 1)])
    member = play.join("joins", stable).member_id
    play.sync("joins", stable, 1, member, {member: b"\xab"})
    for version in play.versions(ApiKey.DESCRIBE_GROUPS):
        play.describe(f"three {version}", simple, stable, missing, version=version)
        play.describe(
            f"no operations {version}", simple, missing, version=version, operations=False
        )
        play.describe(f"twice {version}", simple, simple, version=version)
        play.describe(f"nothing {version}", version=version)


def listing(play: ClassicPlay) -> None:
    (topic,) = play.topic("t")
    play.commit("commit", play.text("s"), [(topic, 0, 1)])
    member = play.join("joins", play.text("j")).member_id
    play.sync("joins", play.text("j"), 1, member)
    play.join("does not sync", play.text("k"))
    for version in play.versions(ApiKey.LIST_GROUPS):
        play.list(f"all {version}", version)
    if play.has(ApiKey.LIST_GROUPS, 4):
        for state in ("Stable", "stable", "Nonsense", "Dead", "CompletingRebalance", "Assigning"):
            play.list(f"state {state}", 4, [state])
        play.list("two states", 4, ["Empty", "Stable"])
        play.list("an empty state", 4, ["", "Stable"])
    if play.has(ApiKey.LIST_GROUPS, 5):
        for kind in ("classic", "Classic", "consumer", "nonsense", "share", "streams", "unknown"):
            play.list(f"type {kind}", 5, [], [kind])
        play.list("type and state", 5, ["empty"], ["classic", "nonsense"])


def deleting(play: ClassicPlay) -> None:
    if not play.has(ApiKey.DELETE_GROUPS):
        return
    (topic,) = play.topic("t")
    play.join("joins", play.text("j"))
    for version in play.versions(ApiKey.DELETE_GROUPS):
        simple = play.text(f"s{version}")
        play.commit(f"commit {version}", simple, [(topic, 0, 1)])
        wanted = (play.text("j"), play.text("none"), "", play.text("none"), simple, simple)
        play.delete(f"many {version}", *wanted, version=version)
        play.delete(f"none {version}", version=version)
        play.fetch(f"offsets {version}", simple, None)
        play.describe(f"deleted {version}", simple)
    play.list("left")


def coordinators(play: ClassicPlay) -> None:
    find = ApiKey.FIND_COORDINATOR
    group = play.text("g")
    for version in play.versions(find):
        for key_type in (0, 1, 9, -1):
            if version == 0 and key_type:
                continue
            for keys in ([group], [""], [group, group], [group, play.text("h"), ""], []):
                if version < 4 and len(keys) != 1:
                    continue
                request = {
                    "key": keys[0] if keys else "",
                    "key_type": key_type,
                    "coordinator_keys": keys,
                }
                label = f"type {key_type}, {len(keys)} keys, version {version}"
                play.call(label, find, version, request, f"c{version}{key_type}")


def share_coordinators(play: ClassicPlay) -> None:
    find = ApiKey.FIND_COORDINATOR
    group = play.text("g")
    keys = [
        f"{group}:{TOPIC_ID}:0",
        f"{group}:{TOPIC_ID}:-1",
        f"a:b:{TOPIC_ID}:0",
        f":{TOPIC_ID}:0",
        f"{group}:{TOPIC_ID}:x",
        f"{group}:x:0",
        f"{group}:{TOPIC_ID}",
        f"{TOPIC_ID}:0",
        f"{group}:{TOPIC_ID}:",
        f"{group}:{TOPIC_ID}:99999999999",
        f"{group}:{TOPIC_ID}==:0",
        "bad",
        "a:b:c:d",
        "",
    ]
    for version in play.versions(find):
        if version == 0:
            continue
        if version >= 6:
            _await_share_coordinator(play, keys[0])
        request = {"key": keys[0], "key_type": 2, "coordinator_keys": keys}
        play.call(f"version {version}", find, version, request, f"c{version}")
        if version >= 4:
            request = {"key_type": 2, "coordinator_keys": []}
            play.call(f"nothing, version {version}", find, version, request)


def _await_share_coordinator(play: ClassicPlay, key: str) -> None:
    for _ in range(50):
        request = {"key_type": 2, "coordinator_keys": [key]}
        response = play.ask(ApiKey.FIND_COORDINATOR, 6, request)
        if response.coordinators[0].error_code != 15:
            return
        play.peer.pause(100)


SCENARIOS = (describing, listing, deleting, coordinators, share_coordinators)
