"""Compare the assignors with Kafka's own classes: `python -m tests.oracle.assignors 4.4.0`.

Random groups change step by step, and in each step both assign partitions. The assignments of all
members must be equal, in the order of Java's maps, since this order decides about the next step.
`--record` writes the assignments of Kafka's classes to the golden file that `make test` plays.
Exit codes: 0 all equal, 3 a difference. Needs Java 17 and Maven.
"""

import argparse
import base64
import json
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kafka_shim.protocol.releases.facts import facts_of_release
from kafka_shim.shim.state.groups.assignors import OrderedAssignment, Subscriber, assign_range
from kafka_shim.shim.state.groups.consumer.uniform_assignor import assign_uniform
from kafka_shim.shim.state.groups.share.share_assignor import assign_simple
from kafka_shim.shim.state.java_collections import in_hash_map_order
from tests.oracle.real_kafka import CACHE, jars
from tests.recordings.store import write_file

Response = Mapping[str, Mapping[str, list[int]]]
"""The assigned partitions, by member and topic."""

ASSIGNORS = ("uniform", "range", "share")


class RandomGroup:
    """A group with one assignor, which changes a little in each step."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self.assignor = self._random.choice(ASSIGNORS)
        self._topics = {self._topic_id(): self._count() for _ in range(self._few(7))}
        self._begun: dict[str, int] = {}  # for share groups: the initialised partitions
        self._is_alike = self._random.random() < 0.5
        self._wanted = list(self._topics)
        self._members: list[dict[str, Any]] = []
        for _ in range(self._few(40) if self._random.random() < 0.1 else self._few(9)):
            self._join()

    def asked(self) -> dict[str, Any]:
        """Return the current input of the assignor."""
        members = [
            {**member, "topics": [topic for topic in self._topics if topic in member["topics"]]}
            for member in self._members
        ]
        wishes = [set(member["topics"]) for member in members]
        asked = {
            "assignor": self.assignor,
            "alike": all(wish == wishes[0] for wish in wishes),
            "topics": dict(self._topics),
            "members": members,
        }
        if self.assignor == "share":
            for topic, count in self._topics.items():
                begun = self._random.choice([count, count, count // 2])
                self._begun[topic] = max(begun, self._begun.get(topic, 0))
            asked["assignable"] = {topic: list(range(self._begun[topic])) for topic in self._topics}
        return asked

    def change(self, response: Response) -> None:
        """Apply an assignment to the members, and then change something at random."""
        for member in self._members:
            given = response[member["id"]]
            if {topic: sorted(held) for topic, held in given.items()} != {
                topic: sorted(held) for topic, held in member["has"].items()
            }:  # an equal assignment keeps its order
                member["has"] = dict(given)
        for _ in range(self._few(3)):
            self._random.choice(
                [self._join, self._leave, self._subscribe, self._grow, self._renew]
            )()

    def _join(self) -> None:
        member: dict[str, Any] = {"id": self._topic_id(), "topics": self._wish(), "has": {}}
        if self._random.random() < 0.2:
            member["instance"] = f"i{self._random.randrange(100_000)}"
        if self._random.random() < 0.3:
            member["rack"] = f"rack{self._random.randrange(3)}"
        self._members.append(member)

    def _leave(self) -> None:
        if len(self._members) > 1:
            self._members.pop(self._random.randrange(len(self._members)))

    def _subscribe(self) -> None:
        if self._is_alike:
            self._wanted = self._random.sample(list(self._topics), self._few(len(self._topics)))
            for member in self._members:
                member["topics"] = list(self._wanted)
        else:
            self._random.choice(self._members)["topics"] = self._wish()

    def _grow(self) -> None:
        topic = self._random.choice(list(self._topics))
        self._topics[topic] += self._few(8)

    def _renew(self) -> None:
        """Delete a topic, and create another one."""
        if len(self._topics) > 1:
            del self._topics[self._random.choice(list(self._topics))]
        new = self._topic_id()
        self._topics[new] = self._count()
        self._wanted.append(new)
        if self._is_alike:
            for member in self._members:
                member["topics"] = list(self._wanted)

    def _wish(self) -> list[str]:
        if self._is_alike:
            return list(self._wanted)
        return self._random.sample(list(self._topics), self._random.randint(0, len(self._topics)))

    def _topic_id(self) -> str:
        return base64.urlsafe_b64encode(self._random.randbytes(16)).decode().rstrip("=")

    def _count(self) -> int:
        return self._random.choice([0, 1, 2, 3, 5, 8, 12, 40])

    def _few(self, most: int) -> int:
        return self._random.randint(1, most)


JAVA = Path(__file__).parent / "java"
GOLDEN = Path(__file__).parents[1] / "golden" / "assignments.json.gz"
COMPILING_SECONDS = 120
STEPS = 6
DIFFERENT = 3


class KafkasAssignors:
    """Kafka's own classes, in a process that answers each line of input with a line of output."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, asked: Mapping[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(asked)}\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@contextmanager
def kafkas(release: str, program: str = "Assignors") -> Iterator[KafkasAssignors]:
    """Compile and start one of the Java programs with the jars of a release."""
    libs, classes = jars(release), CACHE / release / "assignors"
    command = ["javac", "-d", str(classes), "-cp", f"{libs}/*", str(JAVA / f"{program}.java")]
    subprocess.run(command, check=True, timeout=COMPILING_SECONDS)
    process = subprocess.Popen(
        ["java", "-cp", f"{classes}:{libs}/*", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield KafkasAssignors(process)
    finally:
        process.kill()
        process.wait()


def ours(asked: Mapping[str, Any], release: str) -> Any:
    """Return the assignment of the shim's assignor, in the form of Kafka's."""
    by_id = {member["id"]: member for member in asked["members"]}
    members = [_subscriber(by_id[member_id]) for member_id in in_hash_map_order(by_id)]
    counts = {_id(topic): count for topic, count in asked["topics"].items()}
    given = _assigned(asked, release, members, counts)
    return {
        member_id: {_text(topic_id): list(held) for topic_id, held in given[member_id].items()}
        for member_id in by_id
    }


def _assigned(
    asked: Mapping[str, Any],
    release: str,
    members: list[Subscriber],
    counts: Mapping[bytes, int],
) -> Mapping[str, OrderedAssignment]:
    if asked["assignor"] == "range":
        return assign_range(members, counts)
    if asked["assignor"] == "uniform":
        uniform_keeps_surplus_with_owner = facts_of_release(
            release
        ).groups.uniform_keeps_surplus_with_owner
        return assign_uniform(
            members,
            counts,
            all_subscribe_alike=asked["alike"],
            uniform_keeps_surplus_with_owner=uniform_keeps_surplus_with_owner,
        )
    assignable = {_id(topic): held for topic, held in asked["assignable"].items()}
    return assign_simple(members, assignable, all_subscribe_alike=asked["alike"])


def _subscriber(member: Mapping[str, Any]) -> Subscriber:
    return Subscriber(
        member["id"],
        member.get("instance"),
        frozenset(map(_id, member["topics"])),
        {_id(topic): held for topic, held in member["has"].items()},
    )


def steps(seed: str, kafka: KafkasAssignors) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the steps of a random group, with the assignments of Kafka's classes."""
    group = RandomGroup(seed)
    for _ in range(STEPS):
        asked = group.asked()
        response = kafka(asked)
        yield asked, response
        if isinstance(response, str):  # Kafka's assignor failed
            return
        group.change(response)


def is_equal(response: Any, other: Any) -> bool:
    """Return whether two assignments are equal, including their order."""
    return json.dumps(response) == json.dumps(other)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.assignors", description=__doc__)
    parser.add_argument("release", help="a full release number, such as 4.3.1")
    parser.add_argument("--groups", type=int, default=1000, help="number of groups (default: 1000)")
    parser.add_argument("--seed", default="1", help="seed of the random groups")
    parser.add_argument("--record", action="store_true", help="write the golden file")
    options = parser.parse_args(arguments)
    seen, different = [], 0
    known = {"uniform", "range"}
    if "share" in facts_of_release(options.release).groups.protocols:
        known.add("share")  # earlier brokers use another assignor by default
    with kafkas(options.release) as kafka:
        for number in range(options.groups):
            for asked, response in steps(f"{options.seed}-{number}", kafka):
                if asked["assignor"] not in known:
                    continue
                seen.append((asked, response))
                if not is_equal(response, found := ours(asked, options.release)):
                    different += 1
                    line = {"asked": asked, "kafka": response, "shim": found}
                    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stderr.write(f"{len(seen)} assignments, {different} different\n")
    if options.record:
        content = {"release": options.release, "cases": seen}
        write_file(GOLDEN, json.dumps(content).encode())
    return DIFFERENT if different else 0


def _id(text: str) -> bytes:
    return base64.urlsafe_b64decode(f"{text}==")


def _text(topic_id: bytes) -> str:
    return base64.urlsafe_b64encode(topic_id).decode().rstrip("=")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
