"""Random groups for assignors: members join, leave and resubscribe, and topics grow."""

import base64
import random
from collections.abc import Mapping
from typing import Any

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
