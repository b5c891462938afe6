"""Client quotas (KIP-546): limits by user, client id or address.

Address quotas limit the rate of connections; `throttles.py` applies the others.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kafka_shim.protocol.releases.users import UserFacts
from kafka_shim.shim.state.java_collections import (
    JavaHashOrder,
    in_hash_map_order,
    java_hash,
    table_capacity_for,
)

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

    Address = IPv4Address | IPv6Address

Entity = Mapping[str, str | None]
"""Entity type to name; None is the default of its type."""

EntityKey = frozenset[tuple[str, str | None]]
Changes = Mapping[str, float | None]
Alteration = tuple[Entity, Changes]
"""An entity, and its limits by name; None removes one."""

Limits = dict[EntityKey, dict[str, float]]
StoredEntry = tuple[int, dict[str, float]]
"""The position of an entity among those of its bucket, and its limits."""

USER, CLIENT_ID, IP = "user", "client-id", "ip"

MUTATION_RATE = "controller_mutation_rate"
_CLIENT_KEYS = {  # key -> whether it may be a fraction
    "producer_byte_rate": False,
    "consumer_byte_rate": False,
    "request_percentage": True,
    MUTATION_RATE: True,
}
WHOLE_MAX = float(1 << 63)
CONNECTION_RATE = "connection_creation_rate"
_IP_KEYS = {CONNECTION_RATE: False}


IN_PLACE_MAX = 100
"""Alterations of more entities rebuild the order of all."""


class QuotaError(Exception):
    """Invalid quotas; the message says why."""


def validate_entity(entity: Entity, entity_types: Collection[str]) -> None:
    """Raise QuotaError for an invalid entity (observed on 4.3.1)."""
    if not entity:
        raise QuotaError("the quota entity is empty")
    for kind, name in entity.items():
        if kind not in entity_types:
            raise QuotaError(
                f"`{kind}` is not a quota entity type: expected one of {', '.join(entity_types)}"
            )
        if name == "":
            raise QuotaError(f"the name of the {kind} is empty")
    if IP in entity:
        if len(entity) > 1:
            raise QuotaError("an ip cannot be combined with a user or a client id")
        name = entity[IP]
        if name is not None and not is_host_address(name):
            raise QuotaError(f"`{name}` is not an ip address")


def is_host_address(name: str) -> bool:
    """Return whether it is an IP address or localhost."""
    try:
        _parse_address(name)
    except ValueError:
        return False
    return True


def _parse_address(name: str) -> "Address":
    """Parse an address; of host names, only localhost is known."""
    import ipaddress  # noqa: PLC0415 - most clusters have no quotas for addresses

    return ipaddress.ip_address("127.0.0.1" if name == "localhost" else name)


def validate_limit(entity: Entity, quota_name: str, value: float, facts: UserFacts) -> None:
    """Raise QuotaError for an invalid limit of the entity (recorded on 2.6 to 4.4).

    A limit that may be a fraction may be anything up to 3.4, and NaN up to 4.3.
    """
    keys = _IP_KEYS if IP in entity else _CLIENT_KEYS
    if quota_name not in keys or (quota_name == MUTATION_RATE and not facts.has_mutation_quota):
        raise QuotaError(
            f"`{quota_name}` is not a quota of this entity: expected one of {', '.join(keys)}"
        )
    if facts.quotas_must_be_finite and not math.isfinite(value):
        raise QuotaError(f"{quota_name} must be a finite number")
    if facts.quotas_must_be_positive and value <= 0:
        raise QuotaError(f"{quota_name} must be above 0")
    may_be_fraction = keys[quota_name]
    if may_be_fraction or math.isnan(value):
        return
    if not 0 <= value < WHOLE_MAX or value != int(value):
        raise QuotaError(f"{quota_name} must be a 64-bit integer from 0 on")


class Quotas:
    """The limits of all entities, in the order of a real broker (3.0 and later)."""

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        self._changed = changed
        self._limits: Limits = {}
        self._hashes: dict[EntityKey, int] = {}
        self._order = JavaHashOrder[EntityKey]()
        self._positions: dict[EntityKey, int] = {}
        """Numbers in whose order the entities of a bucket of the map are."""
        self._next_position = 0
        self._connection_rates: dict[Address | None, float] = {}
        self.when_entry_changed: Callable[[EntityKey | None], None] = lambda _: None
        """Called with each entity whose entry changed; None: the number of buckets did."""

    def alter_limits(self, alterations: Sequence[Alteration]) -> None:
        """Set limits, and remove those with value None; an entity may be repeated."""
        changes: dict[EntityKey, Changes] = {}
        for entity, changed in alterations:
            key = entity_key(entity)
            changes[key] = {**changes.get(key, {}), **changed}
        if len(changes) > IN_PLACE_MAX or not self._try_alter_without_reordering(changes):
            self._replace_state(*_apply_limit_changes(*self._ordered_state(), changes))
        self._update_connection_rates(changes)
        self._changed()

    def limits_as_texts(self, entities: Iterable[Entity]) -> dict[str, dict[str, str]]:
        """Return the limits of entities with names such as `user=alice, client-id=default`."""
        keys = {entity_key(entity): None for entity in entities}
        return {
            ", ".join(f"{kind}={name or 'default'}" for kind, name in sorted(key)): {
                limit: f"{value:.15g}" for limit, value in self._limits.get(key, {}).items()
            }
            for key in keys
        }

    def _replace_state(
        self, limits: Limits, hashes: dict[EntityKey, int], order: JavaHashOrder[EntityKey]
    ) -> None:
        before = self._limits
        self._limits, self._hashes, self._order = limits, hashes, order
        self._positions = {key: position for position, key in enumerate(limits)}
        self._next_position = len(limits)
        for key in {**before, **limits}:
            self.when_entry_changed(key)
        self.when_entry_changed(None)

    def changed_limit_count(self, alteration: Alteration) -> int:
        """Return how many limits of an entity differ after an alteration."""
        entity, changes = alteration
        limits = self._limits.get(entity_key(entity), {})
        return sum(limits.get(name) != limit for name, limit in changes.items())

    def _try_alter_without_reordering(self, changes: Mapping[EntityKey, Changes]) -> bool:
        """Set and remove limits if the order of other entities stays; return whether it does."""
        for key in changes:
            if key not in self._hashes:
                self._hashes[key] = java_hash_of_entity(key)
        altered = {
            key: _altered_limits(self._limits.get(key, {}), changes[key])
            for key in _order_of_java_map(changes, self._hashes)
        }
        before = len(self._limits)
        after = before + sum(bool(kept) - (key in self._limits) for key, kept in altered.items())
        if table_capacity_for(before, after) != self._order.capacity:
            return False
        for key in [key for key, kept in altered.items() if not kept]:
            hash_code = self._hashes.pop(key)
            if self._limits.pop(key, None) is not None:
                self._order.remove(key, hash_code)
                del self._positions[key]
        for key, kept in altered.items():
            if kept and key not in self._limits:
                self._order.add_last_in_bucket(key, self._hashes[key])
                self._positions[key] = self._next_position
                self._next_position += 1
            if kept:
                self._limits[key] = kept
            self.when_entry_changed(key)
        return True

    def _ordered_state(self) -> tuple[Limits, dict[EntityKey, int]]:
        return {key: self._limits[key] for key in self._order}, dict(self._hashes)

    @property
    def bucket_count(self) -> int:
        """The number of buckets of Java's map of the entities."""
        return self._order.capacity

    def stored_entry(self, key: EntityKey) -> StoredEntry | None:
        """Return the position and the limits of an entity, for `restore_entries`."""
        limits = self._limits.get(key)
        return None if limits is None else (self._positions[key], limits)

    def stored_entries(self) -> Iterable[tuple[EntityKey, StoredEntry]]:
        """Return the positions and limits of all entities, for `restore_entries`."""
        return [(key, (self._positions[key], limits)) for key, limits in self._limits.items()]

    def restore_entries(
        self, entries: Iterable[tuple[EntityKey, StoredEntry]], bucket_count: int
    ) -> None:
        """Restore what `stored_entries` returned, and the order of the entities."""
        self._order = JavaHashOrder(bucket_count)
        for key, (position, limits) in sorted(entries, key=lambda entry: entry[1][0]):
            self._limits[key] = dict(limits)
            self._hashes[key] = java_hash_of_entity(key)
            self._positions[key] = position
            self._next_position = position + 1
            self._order.add_last_in_bucket(key, self._hashes[key])
        self._update_connection_rates(self._limits)
        self._changed()

    def _update_connection_rates(self, altered: Iterable[EntityKey]) -> None:
        """Update the connection rates of the altered addresses."""
        for key in altered:
            for kind, name in key:
                if kind == IP:
                    address = None if name is None else _parse_address(name)
                    rate = self._limits.get(key, {}).get(CONNECTION_RATE)
                    if rate is None:
                        self._connection_rates.pop(address, None)
                    else:
                        self._connection_rates[address] = rate

    @property
    def has_client_quotas(self) -> bool:
        """Return whether there are quotas other than those of addresses."""
        return len(self._limits) > len(self._connection_rates)

    def limit_for_client(
        self, key: str, user: str, client_id: str
    ) -> tuple[tuple[str, str], float] | None:
        """Return the entity whose limit applies to a client (a user, a client id or both), and the
        limit; None without a limit. The most specific entity wins.
        """
        for user_name, name, shared in (
            ({USER: user}, {CLIENT_ID: client_id}, (user, client_id)),
            ({USER: user}, {CLIENT_ID: None}, (user, client_id)),
            ({USER: user}, {}, (user, "")),
            ({USER: None}, {CLIENT_ID: client_id}, (user, client_id)),
            ({USER: None}, {CLIENT_ID: None}, (user, client_id)),
            ({USER: None}, {}, (user, "")),
            ({}, {CLIENT_ID: client_id}, ("", client_id)),
            ({}, {CLIENT_ID: None}, ("", client_id)),
        ):
            limits = self._limits.get(entity_key({**user_name, **name}))
            if limits is not None and key in limits:
                return shared, limits[key]
        return None

    def connection_rate_for_address(self, host: str) -> float | None:
        """Return the connections per second allowed from an address (KIP-612); None: unlimited."""
        rates = self._connection_rates
        return rates.get(_parse_address(host), rates.get(None)) if rates else None

    def all_entities_with_limits(self) -> Iterable[tuple[dict[str, str | None], dict[str, float]]]:
        """Return all entities with their limits."""
        for key in list(self._order):
            yield entity_in_java_map_order(dict(key)), dict(self._limits[key])

    def entity_with_limits(
        self, entity: Entity
    ) -> Iterable[tuple[dict[str, str | None], dict[str, float]]]:
        """Return this entity with its limits, if it has any."""
        limits = self._limits.get(entity_key(entity))
        return [] if limits is None else [(entity_in_java_map_order(entity), dict(limits))]


def entity_key(entity: Entity) -> EntityKey:
    """Return a key that is equal for equal entities."""
    return frozenset(entity.items())


def java_hash_of_entity(key: EntityKey) -> int:
    """Return the hash code that Kafka has for an entity."""
    return 31 + sum(
        java_hash(kind) ^ (0 if name is None else java_hash(name)) for kind, name in key
    )


def entity_in_java_map_order(entity: Entity, initial_capacity: int = 16) -> dict[str, str | None]:
    """Return an entity's parts in the order of Kafka's map with this capacity."""
    return {kind: entity[kind] for kind in in_hash_map_order(entity, initial_capacity)}


def _order_of_java_map(
    changes: Mapping[EntityKey, Changes], hashes: Mapping[EntityKey, int]
) -> JavaHashOrder[EntityKey]:
    """Return the changed entities in the order in which Kafka computes their limits."""
    altered = JavaHashOrder[EntityKey]()
    for key in changes:
        altered.grow_then_add_first_in_bucket(key, hashes[key])
    return altered


def _apply_limit_changes(
    before: Limits, hashes: Mapping[EntityKey, int], changes: Mapping[EntityKey, Changes]
) -> tuple[Limits, dict[EntityKey, int], JavaHashOrder[EntityKey]]:
    """Return the limits of all entities after a change, the hashes, and the order."""
    known = dict(hashes)
    for key in changes:
        known[key] = known.get(key) or java_hash_of_entity(key)
    limits = dict(before)
    for key in _order_of_java_map(changes, known):
        limits[key] = _altered_limits(limits.get(key, {}), changes[key])
    order = JavaHashOrder[EntityKey](len(before))
    for key, kept in limits.items():
        if kept:
            order.add_last_in_bucket(key, known[key])
    return {key: limits[key] for key in order}, {key: known[key] for key in order}, order


def _altered_limits(
    limits: Mapping[str, float], changes: Mapping[str, float | None]
) -> dict[str, float]:
    merged: dict[str, float | None] = dict(limits)
    for key in in_hash_map_order(changes):
        merged[key] = changes[key]
    kept = {key: value for key, value in merged.items() if value is not None}
    return {key: kept[key] for key in in_hash_map_order(kept, len(limits))}
