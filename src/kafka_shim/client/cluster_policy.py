"""The policy of a running cluster: its ACLs, its probable release, and its settings."""

from kafka_shim.authorizer.authorizer import (
    ALLOW_EVERYONE,
    AUTHORIZER_CLASS,
    SUPER_USERS,
    parse_super_users,
)
from kafka_shim.authorizer.model import Acl
from kafka_shim.client.acls import describe_acls
from kafka_shim.client.authorizer_settings import describe_authorizer_settings
from kafka_shim.client.client import Client
from kafka_shim.policy.policy import Policy
from kafka_shim.protocol.api_versions import most_similar_release


def read_policy(client: Client, source: str) -> Policy:
    """Return the policy of the cluster; settings that its broker does not return are assumed."""
    acls, settings = describe_known_acls(client), describe_authorizer_settings(client)
    mode, super_users = settings.allow_everyone, settings.super_users
    assumed = {
        ALLOW_EVERYONE: mode is None,
        SUPER_USERS: super_users is None,
        AUTHORIZER_CLASS: bool(settings.other_authorizer),
    }
    return Policy(
        acls,
        settings.release or most_similar_release(client.versions),
        parse_super_users(super_users or ""),
        allow_everyone=mode is not None and mode.lower() == "true",
        is_mode_known=mode is not None,
        assumed_settings=tuple(name for name, is_assumed in assumed.items() if is_assumed),
        other_authorizer=settings.other_authorizer,
        source=source,
        cluster=source,
    )


def describe_known_acls(client: Client) -> list[Acl]:
    """Return the ACLs whose fields are all known; newer brokers may have others."""
    return [acl for acl in describe_acls(client) if acl.has_known_fields]
