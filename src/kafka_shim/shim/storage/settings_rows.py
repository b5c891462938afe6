"""Parts that are compared as a whole: users, tokens, quotas, settings and features.

A section is a function that returns all its rows, by part and key, and one that restores them.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.sasl.scram_credential import ScramCredential, ScramMechanism
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.delegation_tokens import DelegationToken

Rows = dict[tuple[str, str], str]
Kept = Mapping[str, str]
"""The rows of a part by their keys."""

PRODUCER_IDS = "producer-ids"
"""A broker gets so many producer ids at once, and after a restart others."""
PRODUCER_ID_BLOCK = 1000


def text(value: object) -> str:
    """Return a value as JSON; bytes are in base64."""
    return msgspec.json.encode(value).decode()


def users(cluster: Cluster) -> Rows:
    """Return passwords, and credentials of AlterUserScramCredentials."""
    known = cluster.users
    rows = {("user", name): text(password) for name, password in known.passwords.items()}
    for name in known.stored_names():
        for mechanism, credential in known.stored(name):
            rows["scram", text([mechanism.wire_name, name])] = text(credential)
    return rows


def _put_users(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    """Restore users; passwords in the configuration take precedence."""
    for name, password in rows.get("user", {}).items():
        if name not in cluster.users.passwords:
            cluster.users.add(name, msgspec.json.decode(password, type=str))
    for key, value in rows.get("scram", {}).items():
        mechanism, name = msgspec.json.decode(key, type=tuple[str, str])
        credential = msgspec.json.decode(value, type=ScramCredential)
        cluster.users.store(ScramMechanism[mechanism.replace("-", "_")], name, credential)


def tokens(cluster: Cluster) -> Rows:
    """Return delegation tokens."""
    return {("token", token.token_id): text(token) for token in cluster.tokens}


def _put_tokens(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    for value in rows.get("token", {}).values():
        cluster.tokens.store_token(msgspec.json.decode(value, type=DelegationToken))


def quotas(cluster: Cluster) -> Rows:
    """Return quotas in one row, since their order matters."""
    return {("quotas", ""): text(list(cluster.quotas.all()))}


def _put_quotas(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    kind = list[tuple[dict[str, str | None], dict[str, float]]]
    for value in rows.get("quotas", {}).values():
        cluster.quotas.put_back(msgspec.json.decode(value, type=kind))


_CONFIGS: Mapping[str, Any] = {
    "all_brokers": dict[str, str],
    "brokers": dict[int, dict[str, str]],
    "groups": dict[str, dict[str, str]],
    "client_metrics": dict[str, dict[str, str]],
}


def configs(cluster: Cluster) -> Rows:
    """Return dynamic settings except those of topics; logger levels are not kept."""
    rows = {("config", name): text(getattr(cluster.configs, name)) for name in _CONFIGS}
    rows["config", "prepared"] = text(cluster.topics.prepared)
    return rows


def _put_configs(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    kept = dict(rows.get("config", {}))
    prepared = kept.pop("prepared", "{}")
    cluster.topics.prepared = msgspec.json.decode(prepared, type=dict[str, dict[str, str]])
    for name, value in kept.items():
        setattr(cluster.configs, name, msgspec.json.decode(value, type=_CONFIGS[name]))


def features(cluster: Cluster) -> Rows:
    """Return feature levels, which belong to a release."""
    levels = {feature.name: feature.level for feature in cluster.features}
    return {("features", cluster.release): text(levels)}


def _put_features(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    value = rows.get("features", {}).get(cluster.release, "{}")
    for name, level in msgspec.json.decode(value, type=dict[str, int]).items():
        cluster.set_feature_level(name, level)


SECTIONS: Mapping[str, Callable[[Cluster], Rows]] = {
    "users": users,
    "tokens": tokens,
    "quotas": quotas,
    "configs": configs,
    "features": features,
}
PUT_BACK = (_put_users, _put_tokens, _put_quotas, _put_configs, _put_features)

SECTION_OF: Mapping[int, str] = {
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: "users",
    ApiKey.CREATE_DELEGATION_TOKEN: "tokens",
    ApiKey.RENEW_DELEGATION_TOKEN: "tokens",
    ApiKey.EXPIRE_DELEGATION_TOKEN: "tokens",
    ApiKey.ALTER_CLIENT_QUOTAS: "quotas",
    ApiKey.ALTER_CONFIGS: "configs",
    ApiKey.INCREMENTAL_ALTER_CONFIGS: "configs",
    ApiKey.CREATE_TOPICS: "configs",  # settings can exist before their topic
    ApiKey.UPDATE_FEATURES: "features",
    ApiKey.CREATE_ACLS: "acls",
    ApiKey.DELETE_ACLS: "acls",
}
"""What a request may change that no store notes by itself."""
