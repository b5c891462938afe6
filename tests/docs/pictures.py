"""Make the pictures of README and docs from real runs: `python -m tests.docs.pictures`."""

import io
import re
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from confluent_kafka import Consumer, KafkaException, Producer
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from kafka_shim.shim.testing import KafkaBroker, start
from tests.browser import chromium
from tests.docs.demo_broker import demo_broker, replacements
from tests.docs.shell import Shell
from tests.docs.shown import ROOT

PICTURES: Final = ROOT / "docs" / "pictures"
CARD: Final = ROOT / "docs" / "site" / "theme" / "assets" / "images" / "card.png"
SESSION: Final = (
    "python examples/denied.py",
    (
        "kafka-shim explain --bootstrap-server 127.0.0.1:9092 --principal User:carol"
        " --operation Write --topic orders"
    ),
    "kafka-shim who-can Write topic:orders --bootstrap-server 127.0.0.1:9092",
)
"""Commands of the README's first example, with the broker of `make run`."""

WIDTH: Final = 100
FONTS = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
"""Fonts that would be loaded from another server; the picture uses an installed one instead."""

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


def session(shell: Shell, addresses: dict[str, str]) -> str:
    """Return an SVG of the commands and their output."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    for command in SESSION:
        done = shell(command)
        assert done.returncode in (0, 3), done.stderr
        said = done.stdout.replace(addresses["PLAINTEXT"], "127.0.0.1:9092")
        console.print(Text(f"$ {command}", style="bold green"))
        console.print(Text(said))
    form = FONTS.sub("", CONSOLE_SVG_FORMAT)
    return console.export_svg(title="kafka-shim", code_format=form, unique_id="session")


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
    with tempfile.TemporaryDirectory() as folder, demo_broker(Path(folder)) as addresses:
        shell = Shell(Path(folder), replacements(addresses))
        (PICTURES / "session.svg").write_text(session(shell, addresses))
    with start() as broker, chromium("1280,640") as driver:
        use(broker)
        size = {"width": 1280, "height": 640, "deviceScaleFactor": 2, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        shots(driver, broker, PICTURES)
        card(driver)


if __name__ == "__main__":
    main()
