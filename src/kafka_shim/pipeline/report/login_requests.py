"""Requests with which clients log in, apart from those of anonymous clients."""

from typing import Any

_ANONYMOUS = "User:ANONYMOUS"
BEFORE_LOGIN = "before log-in"
_LOGIN_APIS = frozenset({"ApiVersions", "SaslHandshake", "SaslAuthenticate"})


def separate_login_requests(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with `BEFORE_LOGIN` as the principal of requests with which clients log in.

    A client that sent other requests as the anonymous user did not log in.
    """
    stayed_anonymous = {
        row["client_id"]
        for row in rows
        if row["principal"] == _ANONYMOUS and row["api"] not in _LOGIN_APIS
    }
    return [
        row | {"principal": BEFORE_LOGIN}
        if row["principal"] == _ANONYMOUS
        and row["api"] in _LOGIN_APIS
        and row["client_id"] not in stayed_anonymous
        else row
        for row in rows
    ]
