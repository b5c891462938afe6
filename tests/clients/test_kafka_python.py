"""kafka-python against the broker."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.acl_behaviours import AclBehaviours
from tests.clients.broker import Bootstrap
from tests.clients.driver import Driver, started
from tests.clients.operations_behaviours import OperationsBehaviours
from tests.clients.record_behaviours import RecordBehaviours

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]

PROGRAM = Path(__file__).parent / "drivers" / "kafka_python_driver.py"


@pytest.fixture(scope="module")
def driver(bootstrap: Bootstrap, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    folder = tmp_path_factory.mktemp("kafka_python")
    with started([sys.executable, str(PROGRAM)], bootstrap, folder) as found:
        yield found


class TestKafkaPython(AclBehaviours, OperationsBehaviours, RecordBehaviours):
    consuming_a_hidden_topic = None  # 3.0 raises it for pattern subscriptions only
    withheld_offset = "29 for the request"
