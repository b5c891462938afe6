"""Each value of `group.consumer.migration.policy`, on brokers with this setting."""

from tests.recordings.groups.migration_play import HEARTBEAT, begun, rejoin, seen, speaks
from tests.recordings.groups.modern_play import ModernPlay

POLICY = "group.consumer.migration.policy"


def _both_ways(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    up, down = play.text("-up"), play.text("-down")
    member = begun(play, up, topic)
    play.enter("into a classic group", up, "m", topic)
    play.heartbeat("classic", up, 1, member)
    seen(play, "perhaps upgraded", up)
    play.enter("new", down, "m", topic)
    play.settle()
    joined = play.join("into a consumer group", down, protocols=speaks([topic]))
    if joined.error_code == 0:
        play.sync("classic", down, joined.generation_id, joined.member_id)
    play.beat("new leaves", down, "m", -1)
    seen(play, "perhaps downgraded", down)
    if joined.error_code == 0:
        member = joined.member_id
        play.heartbeat("stays", down, joined.generation_id, member)
        now = rejoin(play, "stays", down, member, topic)
        play.heartbeat("has rejoined", down, now, member)
        play.leave("leaves as well", down, (member, None))
        seen(play, "empty", down)
        play.join("into the empty group", down, protocols=speaks([topic]))
        play.list("in the end")


def disabled(play: ModernPlay) -> None:
    _both_ways(play)


def upgrade(play: ModernPlay) -> None:
    _both_ways(play)


def downgrade(play: ModernPlay) -> None:
    _both_ways(play)


SETTINGS = {policy.__name__: {POLICY: policy.__name__} for policy in (disabled, upgrade, downgrade)}
"""Broker settings that a scenario needs."""

SCENARIOS = (disabled, upgrade, downgrade)
