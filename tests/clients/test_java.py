"""Kafka's own Java clients and kafka-acls against the broker."""

from collections.abc import Iterator

import pytest

from tests.clients.acl_behaviours import AclBehaviours
from tests.clients.broker import Bootstrap
from tests.clients.driver import Driver, started
from tests.clients.operations_behaviours import OperationsBehaviours
from tests.clients.record_behaviours import RecordBehaviours
from tests.clients.toolchains import java_driver

pytestmark = [pytest.mark.client, pytest.mark.timeout(60, func_only=True)]


@pytest.fixture(scope="module")
def driver(bootstrap: Bootstrap, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    folder = tmp_path_factory.mktemp("java")
    with started(java_driver(folder), bootstrap, folder) as found:
        yield found


class TestJavaClients(AclBehaviours, OperationsBehaviours, RecordBehaviours):
    withheld_offset = "left out"
