"""Unused groups on brokers with an offsets retention of one minute."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.classic_play import subscription
from tests.recordings.groups.modern_play import ModernPlay

CHECKED_MS = 3_000
LONG_MS = 32_000
"""A little more than half of the offsets retention."""
PATIENT: dict[str, Any] = {"session_timeout_ms": 300_000, "rebalance_timeout_ms": 300_000}


def gone(play: ModernPlay) -> None:
    """Empty groups without offsets are removed at once; groups with offsets when these expire."""
    first, second = play.topic("t", "u")
    _leave_behind(play, first)
    stays = play.text("-stays")
    speaks = (("range", subscription([first])),)
    member = play.join("stays", stays, protocols=speaks, **PATIENT)
    play.sync("stays", stays, member.generation_id, member.member_id)
    for topic in (first, second):
        identity = (member.generation_id, member.member_id)
        play.commit("of a member", stays, [(topic, 0, 7)], *identity)
    play.peer.pause(CHECKED_MS)
    play.list("without offsets they are gone")
    play.peer.pause(LONG_MS)
    play.commit("again", play.text("-alone"), [(second, 1, 9)])
    play.peer.pause(LONG_MS)
    play.list("most are gone")
    for group in ("-stays", "-alone", "-committed"):
        play.fetch(f"what is left of {group}", play.text(group), None)
    play.peer.pause(LONG_MS)
    play.list("all but the one with a member are gone")


def _leave_behind(play: ModernPlay, topic: str) -> None:
    """Create empty groups, with and without offsets."""
    joined = play.text("-joined")
    member = play.join("joined", joined, **PATIENT)
    play.sync("joined", joined, member.generation_id, member.member_id)
    play.leave("joined", joined, (member.member_id, None))
    committed = play.text("-committed")
    member = play.join("committed", committed, **PATIENT)
    play.sync("committed", committed, member.generation_id, member.member_id)
    identity = (member.generation_id, member.member_id)
    play.commit("committed", committed, [(topic, 0, 5)], *identity)
    play.leave("committed", committed, (member.member_id, None))
    play.commit("alone", play.text("-alone"), [(topic, 0, 3), (topic, 1, 4)])
    if play.has(ApiKey.CONSUMER_GROUP_HEARTBEAT):
        play.enter("modern", play.text("-modern"), "m", topic)
        play.beat("modern", play.text("-modern"), "m", -1)
    if play.has(ApiKey.SHARE_GROUP_HEARTBEAT):
        play.share("share", play.text("-share"), "m", 0, [topic])
        play.share("share", play.text("-share"), "m", -1)


SCENARIOS = (gone,)
OWN_SETTINGS = {
    "idle-gone": {
        "offsets.retention.check.interval.ms": "500",
        "offsets.retention.minutes": "1",
    }
}
