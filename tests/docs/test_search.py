"""The search of the site finds what readers type where it belongs, in its real interface."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import BROWSER, DRIVER, chromium
from tests.docs.site_search import open_site, search_result_pages

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        BROWSER is None or DRIVER is None,
        reason="needs a browser: Debian's packages chromium and chromium-driver",
    ),
]

FIRST = {
    "install": "start/install",
    "why was it denied": "start/denials",
    "least acls": "guides/least-acls",
    "testcontainers": "guides/testcontainers",
    "fault": "guides/faults",
    "compaction": "guides/clusters",
    "pcap": "guides/import",
    "authorizer log": "guides/import",
    "mutual tls": "guides/tls",
    "strimzi": "guides/acl-formats",
    "Broker: Topic authorization failed": "guides/troubleshooting",
    "KAFKA_SHIM_TOPICS": "reference/environment",
    "KIP-848": "reference/releases",
    "explain": "reference/commands/explain",
    "who-can": "reference/commands/who-can",
    "--user": "reference/commands/broker-options",
    "--kafka-version": "reference/commands/broker-options",
    "TOPIC_AUTHORIZATION_FAILED": "reference/errors",
    "EmbeddedKafka": "guides/migrating",
    "github actions": "guides/ci",
    "docker": "guides/container",
    "scram": "guides/authentication",
    "oauthbearer": "guides/authentication",
    "java": "guides/languages",
    "node": "guides/languages",
    "replay": "guides/replay",
    "cassette": "guides/cassettes",
    "terraform": "guides/acl-formats",
    "policy diff": "reference/commands/policy",
    "custom authorizer": "guides/custom-authorizer",
    "OffsetFetch": "reference/permissions",
    "exit code": "reference/exit-codes",
    "prometheus": "reference/metrics",
    "CVE-2024-56128": "explanation/security",
    "architecture": "explanation/architecture",
    "retention": "guides/clusters",
    "kubernetes": "guides/container",
    "mtls": "guides/tls",
    "jwt": "guides/authentication",
    "spring": "guides/migrating",
    "windows": "start/install",
    "unused acls": "guides/pipeline",
}
"""Queries, and the page that is listed first."""


@pytest.fixture(scope="module")
def browser(site: Path) -> Iterator[Any]:
    with chromium() as driver:
        open_site(driver, site)
        yield driver


@pytest.mark.parametrize("query", FIRST)
def test_the_first_result_is_the_page_of_the_query(query: str, browser: Any, site: Path) -> None:
    results = search_result_pages(browser, site, query)
    assert results[0] == f"{FIRST[query]}.html", results[:5]
