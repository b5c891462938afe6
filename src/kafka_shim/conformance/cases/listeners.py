"""TLS, and listeners with another security protocol than the client."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import PLAIN_LOGIN, CaseContext, UnmetExpectationError
from kafka_shim.conformance.cases.logins import (
    expect_login_succeeds,
    try_login,
)
from kafka_shim.conformance.fixtures import ClusterSetup

_LISTENERS = CaseFamily("logins")
_TLS = ClusterSetup(has_tls=True)


@_LISTENERS.case(
    "works.tls",
    "a client accepts a certificate that its trusted authority has issued",
    origin="TLS",
    commands="produce",
    capabilities="tls",
    setup=_TLS,
    runs_on_real_cluster=True,
)
async def expect_tls_login_succeeds(context: CaseContext) -> None:
    await expect_login_succeeds({"login": PLAIN_LOGIN, "tls": context.tls_trust_fields}, context)


async def expect_error_on_wrong_listener(
    listener: str, login: Mapping[str, Any] | None, trust: str | None, context: CaseContext
) -> None:
    client_options: dict[str, Any] = {"listener": listener, "login": login}
    if trust is not None:
        client_options["tls"] = context.tls_trust_fields if trust == "own" else {"ca": None}
    response = await try_login(context, client_options)
    if response.error is None:
        raise UnmetExpectationError("an error, in time", f"the client reported {response}")


for _name, _what, _listener, _wrong_login, _trust in (
    ("plain-to-tls", "a client without TLS at a TLS listener", "SSL", None, None),
    ("tls-to-plain", "a client with TLS at a plain listener", "PLAINTEXT", None, "own"),
    ("untrusted", "a client that does not trust the certificate", "SSL", None, "none"),
    ("sasl-to-plain", "authentication on a PLAINTEXT listener", "PLAINTEXT", PLAIN_LOGIN, None),
    ("plain-to-sasl", "no authentication on a SASL listener", "SASL_PLAINTEXT", None, None),
):
    _LISTENERS.add_case(
        f"wrong-listener.{_name}",
        f"{_what} ends with an error",
        partial(expect_error_on_wrong_listener, _listener, _wrong_login, _trust),
        origin="security.protocol",
        expected_response="an error, in time",
        commands="produce",
        capabilities="tls" if _trust else "",
        setup=_TLS if _listener == "SSL" or _trust else ClusterSetup(),
        runs_on_real_cluster=True,
    )


CASES = _LISTENERS.cases
