"""Quotas of many entities: alterations are cheap, and copies keep the order."""

import pytest

from kafka_shim.shim.state.quotas import quotas as module
from kafka_shim.shim.state.quotas.quotas import EntityKey, Quotas

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


def test_a_simultaneous_change_is_kept() -> None:
    quotas = filled()

    def slowly(work: object, *arguments: object) -> object:
        assert callable(work)
        found = work(*arguments)
        if len(list(quotas.all_entities_with_limits())) == MANY:
            quotas.alter_limits([({"user": "meanwhile"}, RATE)])
        return found

    quotas.alter_limits([({"user": "late"}, RATE)], slowly)
    names = {entity["user"] for entity, _ in quotas.all_entities_with_limits()}
    assert names > {"meanwhile", "late"}


def test_a_copy_has_the_same_order_also_after_changes() -> None:
    quotas, copy = filled(), Quotas()
    copy.restore_limits(quotas.all_entities_with_limits())
    assert list(copy.all_entities_with_limits()) == list(quotas.all_entities_with_limits())
    for each in (quotas, copy):
        each.alter_limits([({"user": "one-more"}, RATE)])
    assert list(copy.all_entities_with_limits()) == list(quotas.all_entities_with_limits())
