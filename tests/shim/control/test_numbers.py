"""The control API rejects texts where it expects numbers, and names them."""

from typing import Any
from urllib.parse import quote

import pytest

from kafka_shim.shim.control.routes import ROUTES, Route
from kafka_shim.testing import KafkaBroker
from tests.shim.control.plain_http import Http

NOT_NUMBERS = ("²", "٣", "1" * 5000, "-1", "1_0", " 1")
QUERIES = (
    "/requests?limit=",
    "/requests?after=",
    "/decisions?limit=",
    "/decisions?after=",
    "/authentications?after=",
    "/matrix?first_principal=",
    "/matrix?resources=",
)


@pytest.mark.parametrize("text", NOT_NUMBERS, ids=lambda text: text[:5])
@pytest.mark.parametrize("query", QUERIES)
def test_a_query_with_a_wrong_number_is_refused(
    process: KafkaBroker, query: str, text: str
) -> None:
    status, body = Http(str(process.control_url)).ask("GET", query + quote(text))
    assert status == 400
    assert "expected a number of 0 or more" in body["error"]


@pytest.mark.parametrize("text", NOT_NUMBERS, ids=lambda text: text[:5])
@pytest.mark.parametrize(
    "route",
    [
        route
        for route in ROUTES
        if ("{id}" in route.path or "{partition}" in route.path) and "groups" not in route.path
    ],
    ids=lambda route: route.name,
)
def test_a_path_with_a_wrong_number_is_not_found(
    process: KafkaBroker, route: Route[Any], text: str
) -> None:
    path = route.path
    for name in ("id", "partition"):
        path = path.replace(f"{{{name}}}", quote(text))
    body = {"node_id": 1} if "leader" in path else None
    status, response = Http(str(process.control_url)).ask(
        route.method, path.replace("{topic}", "orders"), body
    )
    assert (status, "unknown " in response["error"]) == (404, True), response
