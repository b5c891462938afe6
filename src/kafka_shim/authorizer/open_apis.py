"""The APIs without permission checks, each with its reason; an API in no table is a bug."""

from typing import Final

from kafka_shim.protocol.enums import ApiKey

OPEN_TO_ALL: Final[dict[ApiKey, str]] = {
    ApiKey.SASL_HANDSHAKE: "part of authentication",
    ApiKey.API_VERSIONS: "answered even before authentication",
    ApiKey.SASL_AUTHENTICATE: "part of authentication",
    ApiKey.CREATE_DELEGATION_TOKEN: "a token for oneself needs no ACL",
    ApiKey.RENEW_DELEGATION_TOKEN: "only the token's owner and renewers may send it",
    ApiKey.EXPIRE_DELEGATION_TOKEN: "only the token's owner and renewers may send it",
    ApiKey.DESCRIBE_DELEGATION_TOKEN: "every client sees its own tokens",
    ApiKey.DESCRIBE_CLUSTER: "brokers, controller and cluster id are public",
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: "every client may send metrics if the broker collects them",
    ApiKey.PUSH_TELEMETRY: "every client may send metrics if the broker collects them",
}
"""APIs that may respond without a permission check, and why. All others must make one."""
