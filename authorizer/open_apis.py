"""The APIs without permission checks, each with its reason; an API in no table is a bug."""

from typing import Final

from kafka_shim.protocol.enums import ApiKey

OPEN_TO_ALL: Final[dict[ApiKey, str]] = {
    ApiKey.SASL_HANDSHAKE: "part of authentication",
    ApiKey.API_VERSIONS: "answered even before authentication",
    ApiKey.SASL_AUTHENTICATE: "part of authentication",
    ApiKey.CREATE_DELEGATION_TOKEN: "a token for oneself needs no ACL",
    ApiKey.RENEW_DELEGATION_TOKEN: "ownership decides: the owner and the renewers may",
    ApiKey.EXPIRE_DELEGATION_TOKEN: "ownership decides: the owner and the renewers may",
    ApiKey.DESCRIBE_DELEGATION_TOKEN: "one's own tokens are always shown",
    ApiKey.DESCRIBE_CLUSTER: "brokers, controller and cluster id are public",
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: "every client may send its metrics where they are wanted",
    ApiKey.PUSH_TELEMETRY: "every client may send its metrics where they are wanted",
}
"""APIs that may answer a request without having asked anything, and why. All others must ask."""
