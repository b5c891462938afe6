"""franz-go, with its admin client kadm, against the broker."""

from collections.abc import Iterator

import pytest

from tests.clients.acl_behaviours import AclBehaviours
from tests.clients.broker import Bootstrap
from tests.clients.driver import Driver, started
from tests.clients.operations_behaviours import OperationsBehaviours
from tests.clients.record_behaviours import RecordBehaviours
from tests.clients.toolchains import go_driver

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]


@pytest.fixture(scope="module")
def driver(bootstrap: Bootstrap, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    folder = tmp_path_factory.mktemp("franz_go")
    with started(go_driver(folder), bootstrap, folder) as found:
        yield found


class TestFranzGo(AclBehaviours, OperationsBehaviours, RecordBehaviours):
    withheld_offset = "29 for the request"  # kadm returns it as the error of the whole call
