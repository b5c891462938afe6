"""Compare the assignor of streams groups with Kafka's class.

    python -m tests.oracle.sticky_tasks RELEASE

RELEASE is 4.4.0 or later, since Kafka's class takes other arguments before. Random groups change
step by step; the active and standby tasks of all members must be equal. `--record` writes the tasks
that Kafka's class assigns to the golden file that `make test` plays. Exit codes: 0 all equal, 3 a
difference. Needs Java 17 and Maven.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.streams.sticky_tasks import (
    StickyAssignorRules,
    TaskRunner,
    TasksToAssign,
    assign_tasks_sticky,
)
from kafka_shim.shim.state.groups.streams.task_kinds import (
    active_tasks_by_subtopology,
    standby_tasks_by_subtopology,
)
from tests.oracle.assignors import DIFFERENT, GOLDEN, KafkasAssignors, kafkas
from tests.recordings.store import write_file

TASKS = GOLDEN.with_name("tasks.json.gz")
STEPS = 5
STATEFUL, REPORTING = 0.8, 0.3
NOTHING: Mapping[str, Any] = {"active": {}, "standby": {}}
RULES = StickyAssignorRules(prefers_reported_offsets=True, standby_prefers_other_owner=True)
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-_"


class RandomStreams:
    """A streams group whose members join and leave, and whose topics grow."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._processes = [self._name() for _ in range(self._random.randint(1, 4))]
        self.topics = {
            str(at): self._random.choice([1, 2, 3, 5, 8])
            for at in range(self._random.randint(1, 4))
        }
        self.stateful = [name for name in self.topics if self._random.random() < STATEFUL]
        self.replicas = self._random.choice([0, 0, 1, 1, 2, 3])
        self.members: list[dict[str, Any]] = []
        for _ in range(self._random.randint(1, 9)):
            self._join()

    def asked(self) -> dict[str, Any]:
        return {
            "topics": self.topics,
            "stateful": self.stateful,
            "replicas": self.replicas,
            "members": self.members,
        }

    def change(self, response: Mapping[str, Any]) -> None:
        for member in self.members:
            member.update(response.get(member["id"], NOTHING))
            if self._random.random() < REPORTING:
                member["offsets"] = self._offsets()
        for _ in range(self._random.randint(1, 3)):
            self._random.choice([self._join, self._leave, self._grow])()

    def _join(self) -> None:
        process = self._random.choice(self._processes)
        self.members.append({"id": self._name(), "process": process, **NOTHING, "offsets": []})

    def _leave(self) -> None:
        if len(self.members) > 1:
            self.members.pop(self._random.randrange(len(self.members)))

    def _grow(self) -> None:
        self.topics[self._random.choice(list(self.topics))] += 1

    def _offsets(self) -> list[tuple[str, int, int]]:
        return [
            (name, at, self._random.choice([0, 0, 7, 7, 9]))
            for name in self.stateful
            for at in range(self.topics[name])
            if self._random.random() < REPORTING
        ]

    def _name(self) -> str:
        return "".join(self._random.choices(_LETTERS, k=22))


def ours(asked: Mapping[str, Any]) -> Any:
    """Return the tasks that the shim assigns, in the form of Kafka's."""
    runners = [
        TaskRunner(
            member["id"],
            member["process"],
            {name.encode(): held for name, held in member["active"].items()},
            {name.encode(): held for name, held in member["standby"].items()},
            {(name.encode(), at): offset for name, at, offset in member["offsets"]},
        )
        for member in asked["members"]
    ]
    wanted = TasksToAssign(
        {name.encode(): count for name, count in asked["topics"].items()},
        [name.encode() for name in asked["stateful"]],
        asked["replicas"],
    )
    return {
        member_id: {
            "active": _row(active_tasks_by_subtopology(given)),
            "standby": _row(standby_tasks_by_subtopology(given)),
        }
        for member_id, given in assign_tasks_sticky(runners, wanted, RULES).items()
    }


def _row(tasks: Assignment) -> dict[str, list[int]]:
    return {name.decode(): sorted(held) for name, held in tasks.items()}


def without_nothing(response: Mapping[str, Any]) -> Any:
    """Leave out the subtopologies without a task for the member."""
    return {
        member_id: {
            kind: {name: held for name, held in tasks.items() if held}
            for kind, tasks in given.items()
        }
        for member_id, given in response.items()
    }


def steps(seed: str, kafka: KafkasAssignors) -> Iterator[tuple[dict[str, Any], Any]]:
    group = RandomStreams(seed)
    for _ in range(STEPS):
        asked = json.loads(json.dumps(group.asked()))
        response = without_nothing(kafka(asked))
        yield asked, response
        group.change(response)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracle.sticky_tasks", description=__doc__
    )
    parser.add_argument("release", help="a full release number")
    parser.add_argument("--groups", type=int, default=1000, help="number of groups (default: 1000)")
    parser.add_argument("--seed", default="1", help="seed of the random groups")
    parser.add_argument("--record", action="store_true", help="write the golden file")
    options = parser.parse_args(arguments)
    seen, different = [], 0
    with kafkas(options.release, "StickyTasks") as kafka:
        for number in range(options.groups):
            for asked, response in steps(f"{options.seed}-{number}", kafka):
                seen.append((asked, response))
                if response != (found := ours(asked)):
                    different += 1
                    line = {"asked": asked, "kafka": response, "shim": found}
                    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stderr.write(f"{len(seen)} assignments, {different} different\n")
    if options.record:
        write_file(TASKS, json.dumps(seen).encode())
    return DIFFERENT if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
