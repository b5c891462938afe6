"""Users, tokens, quotas, settings and features.

A section is a function that returns all its rows, by part and key, and one that restores them.
Users and tokens report their changes, and have a function for one row; others are compared.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.sasl.scram_credential import ScramCredential, ScramMechanism
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.delegation_tokens import DelegationToken
from kafka_shim.shim.state.users import UserKey
from kafka_shim.shim.storage.database import Row

Rows = dict[tuple[str, str], str]
Kept = Mapping[str, str]
"""The rows of a part by their keys."""

PRODUCER_IDS = "producer-ids"
"""A broker gets so many producer ids at once, and after a restart others."""
PRODUCER_ID_BLOCK = 1000


def as_json_text(value: object) -> str:
    """Return a value as JSON; bytes are in base64."""
    return msgspec.json.encode(value).decode()


def password_or_scram_row(cluster: Cluster, key: UserKey) -> Row:
    """Return the row of a password or a credential of AlterUserScramCredentials."""
    mechanism, name = key
    if mechanism is None:
        password = cluster.users.passwords.get(name)
        return "user", name, None if password is None else as_json_text(password)
    credential = cluster.users.stored_credential(mechanism, name)
    value = None if credential is None else as_json_text(credential)
    return "scram", as_json_text([mechanism.wire_name, name]), value


def password_and_scram_rows(cluster: Cluster) -> Rows:
    """Return passwords, and credentials of AlterUserScramCredentials."""
    known = cluster.users
    keys: list[UserKey] = [(None, name) for name in known.passwords]
    for name in known.names_with_stored_credentials():
        keys += [(mechanism, name) for mechanism, _ in known.stored_credentials(name)]
    return _existing_rows_by_part_and_key(password_or_scram_row(cluster, key) for key in keys)


def _existing_rows_by_part_and_key(rows: Iterable[Row]) -> Rows:
    return {(part, key): value for part, key, value in rows if value is not None}


def _restore_passwords_unless_configured_and_scram(
    cluster: Cluster, rows: Mapping[str, Kept]
) -> None:
    """Restore users; passwords in the configuration take precedence."""
    for name, password in rows.get("user", {}).items():
        if name not in cluster.users.passwords:
            cluster.users.add_or_replace_configured_user(
                name, msgspec.json.decode(password, type=str)
            )
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
    return _existing_rows_by_part_and_key(
        token_row(cluster, token.token_id) for token in cluster.tokens
    )


def _restore_tokens(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    for value in rows.get("token", {}).values():
        cluster.tokens.store_token(msgspec.json.decode(value, type=DelegationToken))


def quota_rows(cluster: Cluster) -> Rows:
    """Return quotas in one row, since their order matters."""
    return {("quotas", ""): as_json_text(list(cluster.quotas.all_entities_with_limits()))}


def _restore_quotas(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    kind = list[tuple[dict[str, str | None], dict[str, float]]]
    for value in rows.get("quotas", {}).values():
        cluster.quotas.restore_limits(msgspec.json.decode(value, type=kind))


_CONFIGS: Mapping[str, Any] = {
    "all_brokers": dict[str, str],
    "brokers": dict[int, dict[str, str]],
    "groups": dict[str, dict[str, str]],
    "client_metrics": dict[str, dict[str, str]],
}


def dynamic_config_rows_except_of_topics(cluster: Cluster) -> Rows:
    """Return dynamic settings except those of topics; logger levels are not kept."""
    rows = {("config", name): as_json_text(getattr(cluster.configs, name)) for name in _CONFIGS}
    rows["config", "prepared"] = as_json_text(cluster.topics.prepared)
    return rows


def _restore_dynamic_configs_except_of_topics(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    kept = dict(rows.get("config", {}))
    prepared = kept.pop("prepared", "{}")
    cluster.topics.prepared = msgspec.json.decode(prepared, type=dict[str, dict[str, str]])
    for name, value in kept.items():
        setattr(cluster.configs, name, msgspec.json.decode(value, type=_CONFIGS[name]))


def feature_rows(cluster: Cluster) -> Rows:
    """Return feature levels, which belong to a release."""
    levels = {feature.name: feature.finalized_level for feature in cluster.features}
    return {("features", cluster.release): as_json_text(levels)}


def _restore_features_stored_for_same_release(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    value = rows.get("features", {}).get(cluster.release, "{}")
    for name, level in msgspec.json.decode(value, type=dict[str, int]).items():
        cluster.set_feature_level(name, level)


SECTIONS: Mapping[str, Callable[[Cluster], Rows]] = {
    "users": password_and_scram_rows,
    "tokens": token_rows,
    "quotas": quota_rows,
    "configs": dynamic_config_rows_except_of_topics,
    "features": feature_rows,
}
ROW_OF: Mapping[str, Callable[[Cluster, Any], Row]] = {
    "users": password_or_scram_row,
    "tokens": token_row,
}
"""The sections that report their changes: a function from the key of a changed entry to its row."""
PUT_BACK = (
    _restore_passwords_unless_configured_and_scram,
    _restore_tokens,
    _restore_quotas,
    _restore_dynamic_configs_except_of_topics,
    _restore_features_stored_for_same_release,
)

SECTION_OF: Mapping[int, str] = {
    ApiKey.ALTER_CLIENT_QUOTAS: "quotas",
    ApiKey.ALTER_CONFIGS: "configs",
    ApiKey.INCREMENTAL_ALTER_CONFIGS: "configs",
    ApiKey.CREATE_TOPICS: "configs",  # settings can exist before their topic
    ApiKey.UPDATE_FEATURES: "features",
    ApiKey.CREATE_ACLS: "acls",
    ApiKey.DELETE_ACLS: "acls",
}
"""What a request may change that no store notes by itself."""
