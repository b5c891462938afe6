"""Reset and restore of a broker with stored data, through the control API."""

from pathlib import Path

from kafka_shim.testing import KafkaBroker, start


def names(broker: KafkaBroker) -> set[str]:
    return {topic.name for topic in broker.state().topics}


def started(folder: Path) -> KafkaBroker:
    return start(in_process=True, topics=["orders"], data_dir=folder)


def test_after_a_reset_and_restart_only_configured_state_exists(tmp_path: Path) -> None:
    with started(tmp_path) as broker:
        broker.topics.create("payments")
        broker.users.add("carol")
    with started(tmp_path) as broker:
        assert names(broker) == {"orders", "payments"}
        assert "carol" in broker.state().users
        broker.reset()
    with started(tmp_path) as broker:
        assert names(broker) == {"orders"}
        assert "carol" not in broker.state().users


def test_a_restored_snapshot_survives_a_restart(tmp_path: Path) -> None:
    with started(tmp_path) as broker:
        broker.topics.create("payments")
        kept = broker.snapshot()
        broker.topics.delete("payments")
        broker.topics.create("audit")
        broker.restore(kept)
    with started(tmp_path) as broker:
        assert names(broker) == {"orders", "payments"}
