"""Quotas of many entities: alterations are cheap, and copies keep the order."""

import random

import pytest

from kafka_shim.shim.state.quotas import quotas as module
from kafka_shim.shim.state.quotas.quotas import Alteration, EntityKey, Quotas

MANY = 2_000
RATE = {"producer_byte_rate": 10.0}


def filled() -> Quotas:
    quotas = Quotas()
    quotas.alter_limits([({"user": f"u{number}"}, RATE) for number in range(MANY)])
    return quotas


def test_only_new_entities_are_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashing all of 23,500 entities took a second for each small request."""
    hashed: list[EntityKey] = []
    hash_of = module.java_hash_of_entity

    def noted(key: EntityKey) -> int:
        hashed.append(key)
        return hash_of(key)

    quotas = filled()
    monkeypatch.setattr(module, "java_hash_of_entity", noted)
    quotas.alter_limits([({"user": "u7"}, {"producer_byte_rate": None}), ({"user": "new"}, RATE)])
    assert hashed == [module.entity_key({"user": "new"})]
    assert len(list(quotas.all_entities_with_limits())) == MANY


def test_a_copy_has_the_same_order_also_after_changes() -> None:
    quotas, copy = filled(), Quotas()
    copy.restore_entries(quotas.stored_entries(), quotas.bucket_count)
    assert list(copy.all_entities_with_limits()) == list(quotas.all_entities_with_limits())
    for each in (quotas, copy):
        each.alter_limits([({"user": "one-more"}, RATE)])
    assert list(copy.all_entities_with_limits()) == list(quotas.all_entities_with_limits())


def test_alterations_in_place_keep_the_order_of_a_new_map(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    in_place, anew = Quotas(), Quotas()
    for step in range(600):
        grows = step % 200 < 120
        alterations: list[Alteration] = [
            (
                {rng.choice(["user", "client-id"]): f"n{rng.randrange(150)}"},
                {"producer_byte_rate": 10.0 if rng.random() < (0.8 if grows else 0.2) else None},
            )
            for _ in range(rng.choice([1, 1, 2, 5]))
        ]
        in_place.alter_limits(alterations)
        with monkeypatch.context() as patch:
            patch.setattr(module, "IN_PLACE_MAX", -1)
            anew.alter_limits(alterations)
        assert list(in_place.all_entities_with_limits()) == list(anew.all_entities_with_limits())
        if rng.random() < 0.02:
            entries, buckets = list(in_place.stored_entries()), in_place.bucket_count
            in_place, anew = Quotas(), Quotas()
            in_place.restore_entries(entries, buckets)
            anew.restore_entries(entries, buckets)
