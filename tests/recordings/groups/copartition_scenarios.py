"""Streams groups: topologies whose parts do not fit together (KIP-1071)."""

from collections.abc import Sequence
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.streams_scenarios import HEARTBEAT, subtopology, topology


def together(
    sources: Sequence[int] = (), repartition: Sequence[int] = (), regex: Sequence[int] = ()
) -> dict[str, Any]:
    """Return a group of topics with equal partitions, by their places in a subtopology."""
    return {
        "source_topics": list(sources),
        "repartition_source_topics": list(repartition),
        "source_topic_regex": list(regex),
    }


def groups_of_topics(play: ModernPlay) -> None:
    """Copartition groups that members agree on or not, with places inside and outside."""
    if not play.has(HEARTBEAT):
        return
    first, second = play.topic("t", "u")
    (wide,) = play.topic("w", partitions=3)
    shapes = {
        "none": [],
        "both": [together([0, 1])],
        "each": [together([0]), together([1])],
        "reversed": [together([1, 0])],
        "twice": [together([0, 1]), together([0, 1])],
        "same twice": [together([0, 0])],
        "empty": [together()],
        "outside": [together([0, 5])],
        "negative": [together([-1])],
        "repartition outside": [together([0], [3])],
        "expression outside": [together([0], regex=[0])],
    }
    for label, shape in shapes.items():
        group = play.text("-" + label.replace(" ", ""))
        pairs = {"equal": second, "wide": wide, "missing": play.text("-nope")}
        for name, second_source in pairs.items():
            sources = [first, second_source]
            made = topology(subtopology("0", sources) | {"copartition_groups": shape})
            play.start(f"{label}, {name}", f"{group}-{name}", "a", made)
            play.streams_groups(f"{label}, {name}", f"{group}-{name}")
    group = play.text("-changing")
    plain = topology(subtopology("0", [first, second]) | {"copartition_groups": shapes["both"]})
    play.start("first member", group, "a", plain)
    for label, shape in shapes.items():
        other = topology(subtopology("0", [first, second]) | {"copartition_groups": shape})
        play.start(f"another member: {label}", group, f"b {label}", other)
    higher = topology(subtopology("0", [first, second]), epoch=1)
    play.start("another epoch", group, "c", higher)
    other = topology(subtopology("0", [second, first]) | {"copartition_groups": shapes["both"]})
    play.start("other order", group, "d", other)


def widths(play: ModernPlay) -> None:
    """Repartition topics with partitions of their own, or of those that belong together."""
    if not play.has(HEARTBEAT):
        return
    (two,) = play.topic("t")
    (three,) = play.topic("w", partitions=3)
    (one,) = play.topic("o", partitions=1)
    for label, partitions, sources, groups in (
        ("source is wider", [0], [three], [together([0], [0])]),
        ("source is narrower", [0], [one], [together([0], [0])]),
        ("fixed and equal", [3], [three], [together([0], [0])]),
        ("fixed and narrower", [1], [three], [together([0], [0])]),
        ("both flexible", [0, 0], [], [together([], [0, 1])]),
        ("one fixed", [0, 5], [], [together([], [0, 1])]),
        ("fixed apart", [4, 5], [], [together([], [0, 1])]),
        ("apart", [0, 0], [three], [together([0]), together([], [0, 1])]),
        ("alone", [0], [three], []),
        ("two groups", [0, 0], [three, one], [together([0], [0]), together([1], [1])]),
        ("overlapping", [0, 0], [three], [together([0], [0]), together([], [0, 1])]),
    ):
        name = play.text("-" + label.replace(" ", ""))
        middles = [f"{name}-m{number}" for number in range(len(partitions))]
        readers = subtopology("1", sources, repartition=middles, changelogs=[f"{name}-log"])
        rows = readers["repartition_source_topics"]
        for row, count in zip(rows, partitions, strict=True):
            row["partitions"] = count
        writers = subtopology("0", [two], sinks=middles)
        made = topology(writers, readers | {"copartition_groups": groups})
        play.start(label, name, "a", made)
        play.peer.pause(1_000)
        play.run(f"{label}, then", name, "a")
        play.streams_groups(label, name)
        for topic in (*middles, f"{name}-log"):
            asked = {"topics": [{"name": topic}], "allow_auto_topic_creation": False}
            response = play.ask(ApiKey.METADATA, 8, asked)
            counts = [len(row.partitions) for row in response.topics]
            play.steps.append((f"{label}: {topic.removeprefix(name)}", counts))


def sinkless_repartition(play: ModernPlay) -> None:
    """A repartition topic that no subtopology writes, and one that none reads."""
    if not play.has(HEARTBEAT):
        return
    (topic,) = play.topic("t")
    middle = play.text("-middle")
    shapes = {
        "no sink": [subtopology("0", [topic], repartition=[middle])],
        "no source": [subtopology("0", [topic], sinks=[middle])],
        "own sink": [subtopology("0", [topic], repartition=[middle], sinks=[middle])],
        "of another": [
            subtopology("0", [topic], sinks=[middle]),
            subtopology("1", [], repartition=[middle]),
        ],
        "a source is the sink": [subtopology("0", [topic], sinks=[topic])],
        "no subtopology": [],
    }
    for label, shape in shapes.items():
        group = play.text("-" + label.replace(" ", ""))
        play.start(label, group, "a", topology(*shape))
        play.streams_groups(label, group)
        fixed = [dict(row) for row in shape]
        for row in fixed:
            rows = row["repartition_source_topics"]
            row["repartition_source_topics"] = [each | {"partitions": 2} for each in rows]
        play.start(f"{label}, fixed", f"{group}-fixed", "a", topology(*fixed))
        play.streams_groups(f"{label}, fixed", f"{group}-fixed")
    play.list("in the end")


SCENARIOS = (groups_of_topics, widths, sinkless_repartition)
