"""Users, tokens, quotas, settings and features.

A section is a function that returns all its rows, by part and key, and one that restores them.
Users, tokens, quotas, and settings of groups and of client metrics report their changes, and have a
function for one row; others are compared.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.sasl.scram_credential import ScramCredential, ScramMechanism
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.delegation_tokens import DelegationToken
from kafka_shim.shim.state.quotas.quotas import EntityKey, StoredEntry
from kafka_shim.shim.state.users import UserKey
from kafka_shim.shim.storage.database import Row

Rows = dict[tuple[str, str], str]
Kept = Mapping[str, str]
"""The rows of a part by their keys."""

PRODUCER_IDS = "producer-ids"
"""The next producer id; after a restart, a broker begins with the next block."""
PRODUCER_ID_BLOCK = 1000


def as_json_text(value: object) -> str:
    """Return a value as JSON; bytes are in base64."""
    return msgspec.json.encode(value).decode()


def credential_row(cluster: Cluster, key: UserKey) -> Row:
    """Return the row of a password or a credential of AlterUserScramCredentials."""
    mechanism, name = key
    if mechanism is None:
        password = cluster.users.passwords.get(name)
        return "user", name, None if password is None else as_json_text(password)
    credential = cluster.users.stored_credential(mechanism, name)
    value = None if credential is None else as_json_text(credential)
    return "scram", as_json_text([mechanism.wire_name, name]), value


def credential_rows(cluster: Cluster) -> Rows:
    """Return passwords, and credentials of AlterUserScramCredentials."""
    known = cluster.users
    keys: list[UserKey] = [(None, name) for name in known.passwords]
    for name in known.names_with_stored_credentials():
        keys += [(mechanism, name) for mechanism, _ in known.stored_credentials(name)]
    return _index_rows(credential_row(cluster, key) for key in keys)


def _index_rows(rows: Iterable[Row]) -> Rows:
    return {(part, key): value for part, key, value in rows if value is not None}


def _restore_credentials(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    """Restore users; passwords in the configuration take precedence."""
    for name, password in rows.get("user", {}).items():
        if name not in cluster.users.passwords:
            cluster.users.set_configured_user(name, msgspec.json.decode(password, type=str))
    for key, value in rows.get("scram", {}).items():
        mechanism, name = msgspec.json.decode(key, type=tuple[str, str])
        credential = msgspec.json.decode(value, type=ScramCredential)
        cluster.users.store_credential(
            ScramMechanism[mechanism.replace("-", "_")], name, credential
        )


def token_row(cluster: Cluster, token_id: str) -> Row:
    """Return the row of a delegation token."""
    token = cluster.tokens.find_even_expired(token_id)
    return "token", token_id, None if token is None else as_json_text(token)


def token_rows(cluster: Cluster) -> Rows:
    """Return delegation tokens."""
    return _index_rows(token_row(cluster, token.token_id) for token in cluster.tokens)


def _restore_tokens(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    for value in rows.get("token", {}).values():
        cluster.tokens.store_token(msgspec.json.decode(value, type=DelegationToken))


def quota_row(cluster: Cluster, key: EntityKey | None) -> Row:
    """Return the row of an entity's limits; None: of the number of buckets, for their order."""
    if key is None:
        return "quota-order", "buckets", str(cluster.quotas.bucket_count)
    entry = cluster.quotas.stored_entry(key)
    return "quota", as_json_text(sorted(key)), None if entry is None else as_json_text(entry)


def quota_rows(cluster: Cluster) -> Rows:
    """Return the limits of all entities, and the number of buckets."""
    keys: list[EntityKey | None] = [None, *(key for key, _ in cluster.quotas.stored_entries())]
    return _index_rows(quota_row(cluster, key) for key in keys)


def _restore_quotas(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    entries = [
        (
            frozenset(msgspec.json.decode(key, type=list[tuple[str, str | None]])),
            msgspec.json.decode(value, type=StoredEntry),
        )
        for key, value in rows.get("quota", {}).items()
    ]
    if entries:
        cluster.quotas.restore_entries(entries, int(rows["quota-order"]["buckets"]))


_NAMED_CONFIGS: Mapping[str, str] = {
    "groups": "group-config",
    "client_metrics": "client-metrics-config",
}
"""Field of `Configs`, with settings by name of the resource, to part."""


def named_config_row(cluster: Cluster, key: tuple[str, str]) -> Row:
    """Return the row of the settings of a group or subscription: `key` is the field of `Configs`
    and the name.
    """
    field, name = key
    settings = getattr(cluster.configs, field).get(name)
    return _NAMED_CONFIGS[field], name, None if settings is None else as_json_text(settings)


def named_config_rows(cluster: Cluster) -> Rows:
    """Return the settings of all groups and subscriptions."""
    keys = [(f, name) for f in _NAMED_CONFIGS for name in getattr(cluster.configs, f)]
    return _index_rows(named_config_row(cluster, key) for key in keys)


def _restore_named_configs(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    for field, part in _NAMED_CONFIGS.items():
        for name, value in rows.get(part, {}).items():
            getattr(cluster.configs, field)[name] = msgspec.json.decode(value, type=dict[str, str])


_CONFIGS: Mapping[str, Any] = {
    "all_brokers": dict[str, str],
    "brokers": dict[int, dict[str, str]],
}


def config_rows(cluster: Cluster) -> Rows:
    """Return dynamic settings of brokers, and those of topics that do not exist yet; logger levels
    are not kept.
    """
    rows = {("config", name): as_json_text(getattr(cluster.configs, name)) for name in _CONFIGS}
    rows["config", "prepared"] = as_json_text(cluster.topics.prepared)
    return rows


def _restore_configs(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    kept = dict(rows.get("config", {}))
    prepared = kept.pop("prepared", "{}")
    cluster.topics.prepared = msgspec.json.decode(prepared, type=dict[str, dict[str, str]])
    for name, value in kept.items():
        setattr(cluster.configs, name, msgspec.json.decode(value, type=_CONFIGS[name]))


def feature_rows(cluster: Cluster) -> Rows:
    """Return feature levels, which belong to a release."""
    levels = {feature.name: feature.finalized_level for feature in cluster.features}
    return {("features", cluster.release): as_json_text(levels)}


def _restore_features(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    value = rows.get("features", {}).get(cluster.release, "{}")
    for name, level in msgspec.json.decode(value, type=dict[str, int]).items():
        cluster.set_feature_level(name, level)


SECTIONS: Mapping[str, Callable[[Cluster], Rows]] = {
    "users": credential_rows,
    "tokens": token_rows,
    "quotas": quota_rows,
    "configs": config_rows,
    "named configs": named_config_rows,
    "features": feature_rows,
}
ROW_OF: Mapping[str, Callable[[Cluster, Any], Row]] = {
    "users": credential_row,
    "tokens": token_row,
    "quotas": quota_row,
    "named configs": named_config_row,
}
"""The sections that report their changes: a function from the key of a changed entry to its row."""
PUT_BACK = (
    _restore_credentials,
    _restore_tokens,
    _restore_quotas,
    _restore_configs,
    _restore_named_configs,
    _restore_features,
)

SECTION_OF: Mapping[int, str] = {
    ApiKey.ALTER_CONFIGS: "configs",
    ApiKey.INCREMENTAL_ALTER_CONFIGS: "configs",
    ApiKey.CREATE_TOPICS: "configs",  # settings can exist before their topic
    ApiKey.UPDATE_FEATURES: "features",
    ApiKey.CREATE_ACLS: "acls",
    ApiKey.DELETE_ACLS: "acls",
}
"""What a request may change that no store notes by itself."""
