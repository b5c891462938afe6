"""Tasks of somebody who debugs permissions; each takes at most four clicks."""

from typing import Any

import pytest

from kafka_shim.shim.testing import KafkaBroker
from tests.shim.control.inspector.page import Page, needs_browser, send

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True), needs_browser]
CLICKS_MAX = 4


class ClickingPage(Page):
    """A page on which everything is done by clicks, which are counted."""

    def __init__(self, driver: Any, url: str | None) -> None:
        super().__init__(driver, url, "overview")
        self.clicks = 0

    def click(self, xpath: str) -> None:
        self.wait(lambda: self.driver.find_elements("xpath", xpath))
        self.wait(lambda: self.driver.find_element("xpath", xpath).is_displayed())
        self.driver.find_element("xpath", xpath).click()
        self.clicks += 1
        assert self.clicks <= CLICKS_MAX

    def click_tab(self, name: str) -> None:
        self.click(f"//*[@id='tab-{name}']")


@pytest.fixture
def clicking(chrome: Any, broker: KafkaBroker) -> ClickingPage:
    return ClickingPage(chrome, broker.control_url)


def test_a_denied_request_is_found_and_granted(clicking: ClickingPage, broker: KafkaBroker) -> None:
    send(broker, "carol")
    clicking.click_tab("decisions")
    clicking.click("//*[@id='denied']")
    clicking.click("//tr[td='User:carol']")
    clicking.click("//button[.='Add it']")
    clicking.wait(lambda: clicking.shows("#note", "ACLs added · Undo"))
    assert [acl.operation for acl in broker.acls.list("carol")] == ["DESCRIBE"]


def test_enough_acls_for_a_client_are_added(clicking: ClickingPage, broker: KafkaBroker) -> None:
    send(broker, "carol")
    broker.acls.add(principal="carol", allow="Describe", topic="orders")
    send(broker, "carol")
    clicking.click_tab("principals")
    clicking.click("//tr[td='User:carol']")
    clicking.wait(lambda: clicking.shows("#least", "missing allow User:carol Write on literal"))
    assert "--operation Write" in clicking.element("#least-text").text
    clicking.click("//*[@id='add-all']")
    clicking.wait(lambda: clicking.shows("#least", "All of them exist"))
    send(broker, "carol")
    assert broker.topics.list()[0].end_offsets == [1]
