"""Standby tasks of streams groups, and assignment by reported offsets (KIP-1071)."""

from collections.abc import Sequence
from typing import Any

from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.static_streams_scenarios import configure
from tests.recordings.groups.streams_scenarios import (
    FIRST_DELAY_MS,
    HEARTBEAT,
    subtopology,
    topology,
)

REPLICAS = "streams.num.standby.replicas"
KINDS = ("active_tasks", "standby_tasks", "warmup_tasks")


class Members:
    """Members that run their assigned tasks."""

    def __init__(self, play: ModernPlay, *parts: dict[str, Any]) -> None:
        self.play, self.group = play, play.text("g")
        self._topology = topology(*parts)
        self._runs: dict[str, dict[str, Any]] = {}

    def replicas(self, count: int | None) -> None:
        value = None if count is None else str(count)
        configure(self.play, f"{value} replicas", self.group, value, name=REPLICAS)

    def join(self, name: str, process: str, **more: Any) -> None:
        self._runs[name] = {kind: [] for kind in KINDS}
        self.play.start(
            f"{name} joins", self.group, name, self._topology, process_id=process, **more
        )

    def beat(self, label: str, name: str, **more: Any) -> None:
        """Send a heartbeat with the running tasks, and run those in the response."""
        response = self.play.run(f"{label}: {name}", self.group, name, **self._runs[name], **more)
        if not isinstance(response, str) and response.active_tasks is not None:
            self._runs[name] = {
                kind: [
                    {"subtopology_id": row.subtopology_id, "partitions": row.partitions}
                    for row in getattr(response, kind)
                ]
                for kind in KINDS
            }

    def turn(self, label: str, names: Sequence[str], rounds: int = 3) -> None:
        """Send heartbeats of each member in turn until the assignment should be stable."""
        self.play.settle()
        for number in range(rounds):
            for name in names:
                self.beat(f"{label}, {number}", name)
        self.describe(label)

    def leave(self, name: str) -> None:
        self.play.run(f"{name} leaves", self.group, name, -1)

    def describe(self, label: str) -> None:
        self.play.streams_groups(f"{label}: described", self.group)


def two_processes(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    first, log = play.topic("t", "log", partitions=3)
    members = Members(play, subtopology("s", [first], changelogs=[log]))
    members.replicas(1)
    members.join("a", "pa", user_endpoint={"host": "a", "port": 1})
    members.join("b", "pb", user_endpoint={"host": "b", "port": 2})
    play.peer.pause(FIRST_DELAY_MS)
    members.turn("both", "ab")
    members.leave("b")
    members.turn("a alone", "a")
    play.settle()
    members.join("c", "pc")
    members.turn("c beside", "ac", 4)
    members.replicas(0)
    members.turn("no standby", "ac")


def of_one_process(play: ModernPlay) -> None:
    if not play.has(HEARTBEAT):
        return
    first, second, log = play.topic("t", "u", "log", partitions=3)
    members = Members(play, subtopology("s", [first], changelogs=[log]), subtopology("n", [second]))
    members.replicas(1)
    members.join("a", "pa")
    members.join("b", "pa")
    play.peer.pause(FIRST_DELAY_MS)
    members.turn("one process", "ab")
    play.settle()
    members.join("c", "pc")
    members.turn("a second", "abc", 4)
    members.replicas(2)
    members.turn("two of each", "abc")
    members.leave("a")
    members.turn("without a", "bc", 4)
    play.settle()
    members.join("d", "pd")
    members.turn("d beside", "bcd", 5)
    members.leave("c")
    members.turn("without c", "bd", 4)


def slow_members(play: ModernPlay) -> None:
    """Members that keep running tasks that they should revoke."""
    if not play.has(HEARTBEAT):
        return
    first, log = play.topic("t", "log", partitions=2)
    members = Members(play, subtopology("s", [first], changelogs=[log]))
    members.replicas(1)
    members.join("a", "pa")
    play.peer.pause(FIRST_DELAY_MS)
    members.turn("alone", "a")
    play.settle()
    members.join("b", "pb")
    play.settle()
    members.beat("has to wait", "b")
    play.run("runs all still", members.group, "a")
    play.run("runs all once more", members.group, "a")
    members.describe("runs all still")
    members.beat("waits", "b")
    members.turn("in the end", "ab")
    members.leave("a")
    play.settle()
    play.run("promoted, reports nothing", members.group, "b")
    members.describe("promoted, reports nothing")
    members.turn("promoted", "b")
    play.settle()
    members.join("c", "pb")
    members.turn("the same process", "bc", 4)
    play.settle()
    members.join("d", "pd")
    members.turn("another process", "bcd", 4)


def reported_offsets(play: ModernPlay) -> None:
    """A task is assigned to the member with the most of its state."""
    if not play.has(HEARTBEAT, 1):
        return
    first, log = play.topic("t", "log", partitions=3)
    members = Members(play, subtopology("s", [first], changelogs=[log]))
    for name in "abc":
        members.join(name, f"p{name}")
    play.peer.pause(FIRST_DELAY_MS)
    members.turn("all", "abc")
    offsets = {"a": 5, "b": 7, "c": 9}
    for name, offset in offsets.items():
        rows = [{"subtopology_id": "s", "partition": at, "offset": offset} for at in range(3)]
        members.beat("reports", name, task_offsets=rows)
    members.leave("a")
    members.turn("without a", "bc")
    members.replicas(1)
    members.turn("with standby", "bc")
    members.leave("c")
    members.turn("b alone", "b")


SCENARIOS = (two_processes, of_one_process, slow_members, reported_offsets)
