"""Make the pictures of README and docs from real runs: `python -m tests.docs.pictures`."""

import time
from pathlib import Path
from typing import Any, Final

from confluent_kafka import Consumer, KafkaException, Producer

from kafka_shim.testing import KafkaBroker, start
from tests.docs.shown import ROOT
from tests.support.browser import chromium

PICTURES: Final = ROOT / "docs" / "pictures"
CARD: Final = ROOT / "docs" / "site" / "theme" / "assets" / "images" / "card.png"

VIEWS: Final = {
    "overview": None,
    "requests": "//tr[td[starts-with(., 'Produce')]]",
    "decisions": "//tr[td[.='denied']]",
    "principals": "//tr[td[.='User:carol']]",
    "topics": "//tr[td[.='orders']]",
    "groups": "//tr[td[.='billing-eu']]",
    "transactions": None,
    "acls": None,
    "matrix": None,
    "faults": None,
    "changes": None,
}
"""The inspector's tabs in their order, each with the row to open."""
IN_DARK_TOO: Final = ("decisions", "principals")


def use(broker: KafkaBroker) -> None:
    """Use the broker like a shop: alice writes, bob reads, carol is denied both."""
    broker.topics.create("orders", partitions=3)
    broker.topics.create("payments")
    broker.acls.add(
        {"principal": "alice", "allow": "Write", "topic": "orders"},
        {"principal": "bob", "allow": "Read", "topic": "orders"},
        {"principal": "bob", "allow": "Read", "group": "billing-", "pattern": "prefixed"},
        {"principal": "bob", "deny": "Read", "topic": "pay", "pattern": "prefixed"},
    )
    broker.faults.error("NOT_LEADER_OR_FOLLOWER", api="Produce", topic="orders", times=1)
    for user in ("alice", "carol"):
        settings = {"client.id": f"shop-{user}", "message.timeout.ms": 3000}
        producer = Producer(broker.config(user) | settings)
        producer.produce(
            "orders", b'{"book": "Emma", "copies": 2}', key="17", headers={"shop": "eu"}
        )
        producer.flush()
    consumer = Consumer(
        broker.config("bob")
        | {"group.id": "billing-eu", "client.id": "billing", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["orders"])
    message = consumer.poll(20)
    assert message is not None
    if message.error():
        raise KafkaException(message.error())
    consumer.close()
    denied = Consumer(broker.config("carol") | {"group.id": "refunds", "client.id": "refunds"})
    denied.subscribe(["payments"])
    deadline = time.monotonic() + 20
    while not broker.decisions(api="FindCoordinator", principal="User:carol"):
        assert time.monotonic() < deadline
        denied.poll(0.1)
    denied.close()
    payer = Producer(broker.config("admin") | {"transactional.id": "payments-eu"})
    payer.init_transactions(20)
    payer.begin_transaction()
    payer.produce("payments", b'{"order": 1}')
    payer.flush(20)


def shots(driver: Any, broker: KafkaBroker, folder: Path) -> None:
    """Write a picture of each view in light colours, and of some in dark colours, too."""
    for view, row in VIEWS.items():
        driver.get("about:blank")
        driver.get(f"{broker.control_url}/inspector#{view}")
        deadline = time.monotonic() + 10
        while not driver.find_elements("css selector", "tbody tr"):
            assert time.monotonic() < deadline, view
            time.sleep(0.05)
        if row is not None:
            driver.find_element("xpath", row).click()
        time.sleep(1)  # column widths still change
        driver.save_screenshot(str(folder / f"{view}.png"))
        if view in IN_DARK_TOO:
            color_scheme(driver, "dark")
            driver.save_screenshot(str(folder / f"{view}-dark.png"))
            color_scheme(driver, "light")


def color_scheme(driver: Any, name: str) -> None:
    features = {"features": [{"name": "prefers-color-scheme", "value": name}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
    time.sleep(0.5)


def card(driver: Any) -> None:
    """Write the picture that other programs show for a link to the site."""
    size = {"width": 1200, "height": 630, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get((CARD.parents[3] / "card.html").as_uri())
    CARD.parent.mkdir(exist_ok=True)
    driver.save_screenshot(str(CARD))


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with start() as broker, chromium("1280,640") as driver:
        use(broker)
        size = {"width": 1280, "height": 640, "deviceScaleFactor": 2, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        shots(driver, broker, PICTURES)
        card(driver)


if __name__ == "__main__":
    main()
