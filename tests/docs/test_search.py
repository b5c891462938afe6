"""The search of the site finds what readers type where it belongs, in its real interface."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs.site_search import open_site, search_result_pages
from tests.support.browser import BROWSER, DRIVER, chromium

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
    "spring": "packages/junit5/index",
    "windows": "start/install",
    "unused acls": "guides/pipeline",
    "TopicAuthorizationException: Not authorized to access topics": "guides/troubleshooting",
    "GroupAuthorizationException": "guides/troubleshooting",
    "Not authorized to access group": "guides/troubleshooting",
    "Connection refused": "guides/troubleshooting",
    "port already in use": "guides/troubleshooting",
    "UNKNOWN_TOPIC_OR_PARTITION": "reference/errors",
    "docker compose": "guides/container",
    "super.users": "guides/configuration",
    "allow.everyone.if.no.acl.found": "guides/configuration",
    "MirrorMaker target": "reference/atlas/index",
    "debezium": "reference/atlas/index",
    "server.properties": "guides/configuration",
    "environment variables": "reference/environment",
    "pytest fixture": "guides/pytest",
    "inject error": "guides/faults",
    "TransactionalIdAuthorizationException": "guides/troubleshooting",
    "ClusterAuthorizationException": "guides/troubleshooting",
    "KIP-932": "reference/releases",
    "multiple brokers": "guides/clusters",
    "persist data": "guides/persistence",
    "web ui": "guides/inspector",
    "wireshark": "guides/import",
    "tcpdump": "guides/import",
    "upgrade kafka 4.0": "guides/pipeline",
    "pull request acl diff": "guides/acls-as-code",
    "gitops": "guides/acls-as-code",
    "mcp": "reference/commands/mcp",
    "golang": "guides/languages",
    "c#": "guides/languages",
    ".net": "guides/languages",
    "kfake": "guides/migrating",
    "apple silicon": "start/install",
    "uvx": "start/install",
    "advance clock": "guides/clusters",
    "manual clock": "guides/clusters",
    "DescribeAcls": "reference/permissions",
    "limits": "reference/limits",
    "health check": "guides/container",
    "shell completion": "reference/commands/completion",
}
"""Queries, and the page that is listed first."""

AMONG_THREE = {
    "prefixed acl": "guides/acl-formats",
    "least acls": "guides/least-acls",
    "spark": "guides/pipeline",
    "oauth": "guides/authentication",
    "oauthbearer": "guides/authentication",
    "scram": "guides/authentication",
    "mTLS principal": "guides/tls",
    "log level": "guides/configuration",
    "address already in use": "guides/troubleshooting",
    "Connection to node -1 could not be established": "guides/troubleshooting",
    "Broker: Unknown topic or partition": "guides/troubleshooting",
    "SSL handshake failed": "guides/troubleshooting",
    "offset fetch describe": "reference/permissions",
    "ssl.principal.mapping.rules": "guides/tls",
    "MirrorMaker source": "reference/atlas/index",
    "kafka connect acls": "reference/atlas/index",
    "kafka streams acls": "reference/atlas/index",
    "auto.create.topics.enable": "reference/settings",
    "slow response": "guides/faults",
    "timeout": "guides/faults",
    "idempotent producer acl": "reference/atlas/index",
    "tiered storage": "explanation/differences",
    "delegation token": "guides/authentication",
    "zookeeper": "guides/acl-formats",
    "--brokers": "reference/commands/broker-options",
    "duckdb": "guides/pipeline",
    "rust": "guides/languages",
    "spring boot": "guides/migrating",
    "mock": "guides/migrating",
    "python 3.13": "start/install",
    "record traffic": "guides/replay",
    "IDEMPOTENT_WRITE": "reference/permissions",
    "quota": "reference/releases",
    "openapi": "reference/http-api",
}
"""Queries that several pages answer, and one that is among the first three."""

EVERYDAY = {
    "port in use": "guides/troubleshooting",
    "rebalance": "guides/pytest",
    "asyncio": "guides/pytest",
    "spring boot": "packages/junit5/index",
    "exactly once": "guides/pytest",
    "TopicAuthorizationException": "guides/troubleshooting",
    "consumer lag": "guides/pytest",
    "schema registry": "start/connect",
    "username and password": "start/connect",
    "self signed certificate": "guides/tls",
    "consumer gets no messages": "guides/troubleshooting",
    "clean up between tests": "guides/pytest",
    "xdist": "guides/pytest",
    "typescript": "packages/npm/index",
    "go test": "packages/go/index",
    "how fast is it": "benchmarks/index",
    "memory usage": "benchmarks/index",
    "is it safe for production": "explanation/security",
    "kill a broker": "guides/clusters",
    "network error": "guides/faults",
    "retry": "reference/errors",
    "grant access": "start/denials",
    "who has access to a topic": "reference/commands/who-can",
    "wildcard": "guides/acl-formats",
    "unused permissions": "guides/pipeline",
    "jenkins": "guides/ci",
    "kubernetes readiness probe": "guides/container",
    "dashboard": "guides/inspector",
    "redpanda": "explanation/comparison",
    "idempotent producer permissions": "reference/atlas/index",
}
"""Words of readers who do not know the pages, and the page that answers, chosen before a search."""
EVERYDAY_MIN = 24


@pytest.fixture(scope="module")
def browser(site: Path) -> Iterator[Any]:
    with chromium() as driver:
        open_site(driver, site)
        yield driver


@pytest.mark.parametrize("query", FIRST)
def test_the_first_result_is_the_page_of_the_query(query: str, browser: Any, site: Path) -> None:
    results = search_result_pages(browser, site, query)
    assert results[0] == f"{FIRST[query]}.html", results[:5]


@pytest.mark.parametrize("query", AMONG_THREE)
def test_the_page_of_a_query_is_among_the_first_three(query: str, browser: Any, site: Path) -> None:
    results = list(dict.fromkeys(search_result_pages(browser, site, query)))
    assert f"{AMONG_THREE[query]}.html" in results[:3], results[:5]


def test_everyday_words_find_their_page(browser: Any, site: Path) -> None:
    missed = []
    for query, page in EVERYDAY.items():
        results = list(dict.fromkeys(search_result_pages(browser, site, query)))
        if f"{page}.html" not in results[:3]:
            missed.append(f"{query}: {page} is not among {results[:5]}")
    assert len(EVERYDAY) - len(missed) >= EVERYDAY_MIN, "\n".join(missed)
