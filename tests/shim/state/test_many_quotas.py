"""Quotas of many entities: alterations are cheap, and copies keep the order."""

import pytest

from kafka_shim.shim.state.quotas import quotas as module
from kafka_shim.shim.state.quotas.quotas import EntityKey, Quotas

MANY = 2_000
RATE = {"producer_byte_rate": 10.0}


def filled() -> Quotas:
    quotas = Quotas()
    quotas.alter([({"user": f"u{number}"}, RATE) for number in range(MANY)])
    return quotas


def test_only_new_entities_are_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashing all of 23,500 entities took a second for each small request."""
    hashed: list[EntityKey] = []
    hash_of = module.hash_of

    def noted(key: EntityKey) -> int:
        hashed.append(key)
        return hash_of(key)

    quotas = filled()
    monkeypatch.setattr(module, "hash_of", noted)
    quotas.alter([({"user": "u7"}, {"producer_byte_rate": None}), ({"user": "new"}, RATE)])
    assert hashed == [module.key_of({"user": "new"})]
    assert len(list(quotas.all())) == MANY


def test_a_simultaneous_change_is_kept() -> None:
    quotas = filled()

    def slowly(work: object, *arguments: object) -> object:
        assert callable(work)
        found = work(*arguments)
        if len(list(quotas.all())) == MANY:
            quotas.alter([({"user": "meanwhile"}, RATE)])
        return found

    quotas.alter([({"user": "late"}, RATE)], slowly)
    names = {entity["user"] for entity, _ in quotas.all()}
    assert names > {"meanwhile", "late"}


def test_a_copy_has_the_same_order_also_after_changes() -> None:
    quotas, copy = filled(), Quotas()
    copy.put_back(quotas.all())
    assert list(copy.all()) == list(quotas.all())
    for each in (quotas, copy):
        each.alter([({"user": "one-more"}, RATE)])
    assert list(copy.all()) == list(quotas.all())
