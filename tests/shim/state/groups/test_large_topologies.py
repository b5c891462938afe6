"""The widths of internal topics are found in linear time, whatever the order of subtopologies."""

from kafka_shim.shim.state.groups.streams_topology import (
    Configured,
    InternalTopic,
    StreamsTopology,
    Subtopology,
)
from tests.shim.play import Stage

MANY = 5_000


def chain(links: int) -> tuple[Subtopology, ...]:
    """Each reads what the one behind it writes; the last reads a topic that there is."""
    return tuple(
        Subtopology(
            str(at),
            ("source",) if at == links - 1 else (),
            (f"r{at}",),
            () if at == links - 1 else (InternalTopic(f"r{at + 1}", 0, 0, ()),),
            (InternalTopic(f"c{at}", 0, 0, ()),),
        )
        for at in range(links)
    )


def test_a_long_chain() -> None:
    """With a round of all subtopologies for each of them it took hours."""
    stage = Stage("4.4")
    stage.cluster.topics.create("source", [[1]] * 7, {})
    configured = Configured(StreamsTopology(0, chain(MANY)), stage.cluster.topics)
    assert len(configured.partitions) == 2 * MANY
    assert set(configured.partitions.values()) == {7}
