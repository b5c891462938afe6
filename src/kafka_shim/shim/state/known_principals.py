"""The principals that a cluster knows: of users, listeners, super users and ACLs."""

from collections.abc import Collection

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import AclFilter
from kafka_shim.shim.state.cluster import Cluster

_NAMING_MECHANISMS = frozenset({"OAUTHBEARER", "GSSAPI"})
"""Their clients bring their names along."""


def super_users(cluster: Cluster) -> Collection[str]:
    """Return the super users; an authorizer's own class has none that are known."""
    authorizer = cluster.policy.authorizer
    return authorizer.super_users if isinstance(authorizer, StandardAuthorizer) else ()


def client_principals(cluster: Cluster) -> set[str]:
    """Return the principals as which clients can connect, as far as the cluster names them."""
    listeners = {listener.principal for listener in cluster.config.listeners}
    users = {f"User:{name}" for name in cluster.users.names()}
    return listeners | users | set(super_users(cluster))


def are_client_principals_known(cluster: Cluster) -> bool:
    """Return whether no client brings its own name, as tokens and certificates do."""
    settings = cluster.config.properties.items()
    accepts_certificates = any(
        key.endswith("ssl.client.auth") and value != "none" for key, value in settings
    )
    mechanisms = {name for names in cluster.mechanisms_by_listener.values() for name in names}
    return not accepts_certificates and not mechanisms & _NAMING_MECHANISMS


def known_principals(cluster: Cluster) -> set[str]:
    """Return the principals of clients and of ACLs."""
    authorizer = cluster.policy.authorizer
    acls = () if authorizer is None else authorizer.acls(AclFilter())
    return client_principals(cluster) | {acl.principal for acl in acls}
