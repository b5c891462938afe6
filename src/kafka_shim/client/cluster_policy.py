"""The policy of a running cluster: its ACLs, its probable release, and its settings."""

import json

import msgspec

from kafka_shim.authorizer.authorizer import (
    ALLOW_EVERYONE,
    AUTHORIZER_CLASS,
    SHIM_SETTINGS,
    SUPER_USERS,
    parse_super_users,
)
from kafka_shim.authorizer.authorizer_loading import STANDARD_AUTHORIZER_NAMES
from kafka_shim.authorizer.model import Acl
from kafka_shim.client.acls import describe_acls
from kafka_shim.client.client import Client
from kafka_shim.policy.policy import Policy
from kafka_shim.protocol.api_versions import most_similar_release
from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest

_NAMES = [ALLOW_EVERYONE, SUPER_USERS, AUTHORIZER_CLASS, SHIM_SETTINGS]


class AuthorizerSettings(msgspec.Struct, frozen=True):
    """The values of a broker; None for a value that it does not return."""

    allow_everyone: str | None = None
    super_users: str | None = None
    release: str | None = None
    other_authorizer: str = ""
    """The authorizer class, if it is none of Kafka's own and the broker returns it."""


def describe_authorizer_settings(client: Client) -> AuthorizerSettings:
    """Return the settings of the broker's authorizer, as far as the broker returns them.

    Real brokers (4.4.0, 2.8.2) list such a setting as sensitive, so without its value, and leave it
    out if it is not set; releases before 1.1, which have only version 0, never list it. kafka-shim
    returns all values under a name of its own. A broker describes only itself, so the request names
    all, and the others are errors in the response.
    """
    nodes = client.send_request(
        ApiKey.METADATA, MetadataRequest(topics=[], allow_auto_topic_creation=False)
    ).brokers
    resources = [
        DescribeConfigsResource(ConfigResourceType.BROKER, str(node.node_id), _NAMES)
        for node in nodes
    ]
    request = DescribeConfigsRequest(resources)
    lists_unknown_names = client.versions.get(ApiKey.DESCRIBE_CONFIGS, (0, 0))[1] > 0
    for result in client.send_request(ApiKey.DESCRIBE_CONFIGS, request).results:
        if result.error_code == ErrorCode.NONE:
            return _parse_settings(result.configs, lists_unknown_names)
    return AuthorizerSettings()


def _parse_settings(
    entries: list[DescribeConfigsResourceResult], lists_unknown_names: bool
) -> AuthorizerSettings:
    values = {entry.name: entry.value for entry in entries}
    own = values.get(SHIM_SETTINGS)
    if own is not None:
        known = json.loads(own)
        return AuthorizerSettings(known[ALLOW_EVERYONE], known[SUPER_USERS], known["release"])
    authorizer = values.get(AUTHORIZER_CLASS) or ""
    other = "" if authorizer in STANDARD_AUTHORIZER_NAMES else authorizer
    if not lists_unknown_names:
        return AuthorizerSettings(other_authorizer=other)
    return AuthorizerSettings(
        values.get(ALLOW_EVERYONE, "false"), values.get(SUPER_USERS, ""), other_authorizer=other
    )


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
