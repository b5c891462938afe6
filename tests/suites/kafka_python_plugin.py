"""A pytest plugin for kafka-python's own tests: their broker fixture is a running broker.

It is loaded in the suite's environment, not in this project's. The suite supports a running broker
with PLAINTEXT only; with this plugin, the listener depends on the transport of the test.
"""

import os
from typing import Any

import pytest
from kafka import KafkaAdminClient
from test.integration.fixtures import KafkaFixture


def _instance(
    cls: type[KafkaFixture], broker_id: int, transport: str = "PLAINTEXT", **options: Any
) -> KafkaFixture:
    address = os.environ.get(f"SUITE_{transport}")
    if address is None:
        pytest.skip(f"the broker has no listener {transport}")
    host, _, port = address.rpartition(":")
    options.pop("external", None)
    fixture = cls(host, int(port), broker_id, transport=transport, external=True, **options)
    fixture.running = True
    fixture.ssl_dir = os.environ.get("SUITE_CERTIFICATES")
    return fixture


def _topic_names(self: KafkaFixture) -> list[str]:
    """Return the names of topics; the suite would use kafka-topics, which is not installed."""
    with KafkaAdminClient(**self._enrich_client_params({}, client_id="topic_names")) as admin:
        return list(admin.list_topics())


KafkaFixture.instance = classmethod(_instance)
KafkaFixture.get_topic_names = _topic_names
KafkaFixture.broker_user = "admin"
KafkaFixture.broker_password = "admin-secret"
