"""Brokers that cannot prove who they are: a client must not go on (RFC 5802, TLS)."""

import base64
from functools import partial

import msgspec

from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import PLAIN_LOGIN, CaseContext, UnmetExpectationError
from kafka_shim.conformance.cases.logins import (
    password_login_fields,
    try_login,
)
from kafka_shim.conformance.denied_command import supports_api
from kafka_shim.conformance.driver import DriverResponse
from kafka_shim.conformance.fixtures import PASSWORD, USER, ClusterSetup
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.sasl.scram_credential import ScramMechanism, credential_of_password

_LOGINS = CaseFamily("logins")
_FOREIGN_HOST = ClusterSetup(has_tls=True, certificate_host="elsewhere.example")
_APIS_OF_LOGIN = (ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE)
_HAS_MESSAGES = supports_api(ApiKey.SASL_AUTHENTICATE)
_SALT = b"salt of the suite"


def _expect_rejected_login(response: DriverResponse, context: CaseContext) -> None:
    if response.error is None:
        raise UnmetExpectationError("an error", f"the client reported {response}")
    others = [each for each in context.client_requests() if each.api not in _APIS_OF_LOGIN]
    if others:
        raise UnmetExpectationError(
            "no request to a broker that did not prove that it knows the password",
            f"the client sent {others[0].api.wire_name}",
        )


async def expect_wrong_server_signature_rejected(
    mechanism: ScramMechanism, context: CaseContext
) -> None:
    """Log in to a broker that knows the user's stored key, but not the server key."""
    credential = credential_of_password(mechanism, PASSWORD, _SALT)
    other = credential_of_password(mechanism, "not the password", _SALT)
    context.shim_broker.cluster.users.store_credential(
        mechanism, USER, msgspec.structs.replace(credential, server_key=other.server_key)
    )
    response = await try_login(context, {"login": password_login_fields(mechanism.wire_name)})
    _expect_rejected_login(response, context)


async def expect_wrong_nonce_rejected(mechanism: ScramMechanism, context: CaseContext) -> None:
    """Log in to a broker whose nonce does not begin with that of the client: a replay."""
    salt = base64.b64encode(_SALT).decode()
    first = f"r=nonce-of-another-client,s={salt},i=4096".encode()
    context.inject_fault("SaslAuthenticate", set={"auth_bytes": first}, times=0)
    response = await try_login(context, {"login": password_login_fields(mechanism.wire_name)})
    if response.error is None:
        raise UnmetExpectationError("an error", f"the client reported {response}")
    connections = [each.connection for each in context.client_requests(ApiKey.SASL_AUTHENTICATE)]
    if len(set(connections)) < len(connections):
        raise UnmetExpectationError(
            "no proof for a broker whose nonce does not begin with the client's",
            "the client sent a second message of the exchange",
        )


for _mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
    for _name, _body, _what in (
        ("signature", expect_wrong_server_signature_rejected, "a wrong server signature"),
        ("nonce", expect_wrong_nonce_rejected, "a nonce that is not an extension of its own"),
    ):
        _LOGINS.add_case(
            f"false-broker.{_name}-{_mechanism.wire_name.lower()}",
            f"a client rejects {_what} with {_mechanism.wire_name}",
            partial(_body, _mechanism),
            origin="RFC 5802",
            expected_response="an error",
            expected_requests="nothing after the broker's wrong message",
            commands="produce",
            capabilities="scram",
            supports_release=_HAS_MESSAGES,
        )


@_LOGINS.case(
    "false-broker.certificate",
    "a client rejects a trusted certificate that is for another host",
    origin="KIP-294",
    expected_response="an error",
    expected_requests="none over TLS",
    commands="produce",
    capabilities="tls",
    setup=_FOREIGN_HOST,
)
async def expect_certificate_of_other_host_rejected(context: CaseContext) -> None:
    response = await try_login(context, {"login": PLAIN_LOGIN, "tls": context.tls_trust_fields})
    if response.error is None:
        raise UnmetExpectationError("an error", f"the client reported {response}")
    if context.client_requests():
        raise UnmetExpectationError("no request", "the client sent requests")


CASES = _LOGINS.cases
