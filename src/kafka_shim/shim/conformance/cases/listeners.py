"""TLS, and listeners with another security protocol than the client."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.shim.conformance.case import Family
from kafka_shim.shim.conformance.case_context import PLAIN_LOGIN, CaseContext, UnmetError
from kafka_shim.shim.conformance.cases.logins import try_login, works
from kafka_shim.shim.conformance.fixtures import Setup

_LISTENERS = Family("logins")
_TLS = Setup(has_tls=True)


@_LISTENERS.case(
    "works.tls",
    "a client accepts a certificate that its trusted authority has issued",
    origin="TLS",
    response="ok",
    commands="produce",
    capabilities="tls",
    setup=_TLS,
    is_real=True,
)
async def tls(context: CaseContext) -> None:
    await works({"login": PLAIN_LOGIN, "tls": context.trust_settings}, context)


async def across(
    listener: str, login: Mapping[str, Any] | None, trust: str | None, context: CaseContext
) -> None:
    how: dict[str, Any] = {"listener": listener, "login": login}
    if trust is not None:
        how["tls"] = context.trust_settings if trust == "own" else {"ca": None}
    response = await try_login(context, how)
    if response.error is None:
        raise UnmetError("an error, in time", f"the client reported {response}")


for _name, _what, _listener, _who, _trust in (
    ("plain-to-tls", "a client without TLS at a TLS listener", "SSL", None, None),
    ("tls-to-plain", "a client with TLS at a plain listener", "PLAINTEXT", None, "own"),
    ("untrusted", "a client that does not trust the certificate", "SSL", None, "none"),
    ("sasl-to-plain", "a log-in on a listener without SASL", "PLAINTEXT", PLAIN_LOGIN, None),
    ("plain-to-sasl", "a client without a log-in on a SASL listener", "SASL_PLAINTEXT", None, None),
):
    _LISTENERS.add(
        f"wrong-listener.{_name}",
        f"{_what} ends with an error",
        partial(across, _listener, _who, _trust),
        origin="security.protocol",
        response="an error, in time",
        commands="produce",
        capabilities="tls" if _trust else "",
        setup=_TLS if _listener == "SSL" or _trust else Setup(),
        is_real=True,
    )


CASES = _LISTENERS.cases
