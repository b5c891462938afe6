"""Quotas, and settings of groups and of client metrics, have a row each."""

import random
from pathlib import Path

from kafka_shim.shim.state.quotas.quotas import Alteration, Quotas
from tests.shim.storage.kept import KeptStage

TYPES = ("user", "client-id")


def alteration(rng: random.Random) -> Alteration:
    """Return a change of a random entity; half of them remove its limit."""
    rate = 10.0 if rng.random() < 0.5 else None
    return {rng.choice(TYPES): f"n{rng.randrange(40)}"}, {"producer_byte_rate": rate}


def test_quotas_keep_their_order_over_restarts(tmp_path: Path) -> None:
    rng, never_restarted = random.Random(1), Quotas()
    stage = KeptStage(tmp_path)
    for step in range(300):
        changes = [alteration(rng) for _ in range(rng.choice([1, 2, 5]))]
        never_restarted.alter_limits(changes)
        stage.cluster.quotas.alter_limits(changes)
        stage.storage.commit()
        if step % 10 == 0:
            stage = stage.again()
        expected = list(never_restarted.all_entities_with_limits())
        assert list(stage.cluster.quotas.all_entities_with_limits()) == expected


def test_a_change_writes_its_row_only(tmp_path: Path) -> None:
    stage = KeptStage(tmp_path)
    rate = {"producer_byte_rate": 10.0}
    stage.cluster.quotas.alter_limits([({"user": f"u{n}"}, rate) for n in range(50)])
    for number in range(50):
        stage.cluster.configs.store_group_settings(f"g{number}", {"a": "1"})
    stage.storage.commit()
    stage.cluster.quotas.alter_limits([({"user": "u7"}, {"producer_byte_rate": 20.0})])
    stage.cluster.configs.store_group_settings("g7", {"a": "2"})
    marks = stage.storage._marks
    rows = list(stage.storage._take_changed_rows(marks, stage.cluster))
    assert [(part, key) for part, key, _ in rows] == [
        ("quota", '[["user","u7"]]'),
        ("group-config", "g7"),
    ]
