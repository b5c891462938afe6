"""Each block of the page "Connect a client" sends a record as alice, with its own library."""

import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.clients.toolchains import JAVA_POM, build, java, need, node
from tests.docs.shown import ROOT, commands
from tests.support.commands import SHIM

PAGE = "docs/start/connect.md"
DRIVERS = ROOT / "tests" / "clients" / "drivers"
MECHANISMS = {
    "PLAIN": "PLAIN",
    "SCRAM": "SCRAM-SHA-256",
    "TLS": "PLAIN",
    "OAUTHBEARER": "OAUTHBEARER",
}
"""The mechanism of each section of the page."""

SENDING = {
    "confluent-kafka": """
errors = []
producer.produce("orders", b"hello", on_delivery=lambda error, _: errors.append(error))
producer.flush(20)
assert errors == [None], errors
""",
    "kafka-python": """
producer.send("orders", b"hello").get(20)
producer.close()
""",
    "aiokafka": """
    await producer.start()
    await producer.send_and_wait("orders", b"hello")
    await producer.stop()

asyncio.run(send())
""",
}
GO = """
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

func send(options []kgo.Opt) {
	client, err := kgo.NewClient(options...)
	if err == nil {
		record := &kgo.Record{Topic: "orders", Value: []byte("hello")}
		err = client.ProduceSync(context.Background(), record).FirstErr()
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	client.Close()
}

func main() {
SECTIONS}
"""
NODE = """
import { readFileSync } from "node:fs";
import { Kafka, logLevel } from "kafkajs";

async function send(kafka) {
  const producer = kafka.producer();
  await producer.connect();
  await producer.send({ topic: "orders", messages: [{ value: "hello" }] });
  await producer.disconnect();
}
"""

pytestmark = [
    pytest.mark.folders(PAGE, "src/kafka_shim/shim", "tests/docs"),
    pytest.mark.client,
    pytest.mark.timeout(300, func_only=True),
]


class Broker:
    """The broker of the page's command on free ports; `folder` has its certificates."""

    def __init__(self, folder: Path) -> None:
        [command] = [each for each in commands() if each.page == PAGE]
        options = re.sub(r"(://127\.0\.0\.1):\d+", r"\1:0", command.text.partition(" ")[2])
        self.folder = folder
        self.log = folder / "log"
        ready = folder / "ready"
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [*SHIM, *shlex.split(options), "--log-level", "debug", "--ready-file", str(ready)],
                cwd=folder,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        deadline = time.monotonic() + 20
        while not ready.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        listeners = dict(line.split("=", 1) for line in ready.read_text().splitlines())
        shown = re.findall(r"--listener (\w+)://(\S+)", command.text)
        self._real = {address: listeners[name] for name, address in shown}

    def blocks(self, library: str) -> dict[str, str]:
        """Return the library's blocks by section, with the broker's addresses."""
        page = (ROOT / PAGE).read_text()
        found = {}
        for section in MECHANISMS:
            text = re.split(rf"\n## {section}\b.*\n", page)[1].split("\n## ", 1)[0]
            block = re.search(
                rf"^#### {library}\n\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
            )
            assert block is not None, (section, library)
            found[section] = block[1]
            for address, real in self._real.items():
                found[section] = found[section].replace(address, real)
        return found

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(10)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    started = Broker(tmp_path)
    yield started
    started.stop()


def run(command: Sequence[str], broker: Broker) -> None:
    """Run a program that sends one record with each block, all of them as alice."""
    done = subprocess.run(
        command, cwd=broker.folder, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    writes = re.findall(
        r"Principal = User:(\w+) is Allowed operation = WRITE .* for request = Produce ",
        broker.log.read_text(),
    )
    assert writes == ["alice"] * len(MECHANISMS)


@pytest.mark.parametrize("library", list(SENDING))
def test_python_libraries_connect(library: str, broker: Broker) -> None:
    need(library)
    programs = []
    for block in broker.blocks(library).values():
        before, call, after = block.partition("producer = ")
        if library == "aiokafka":
            call = f"async def send():\n    {call}"
        programs.append(before + call + after + SENDING[library])
    (broker.folder / "program.py").write_text("import asyncio\n" + "\n".join(programs))
    run([sys.executable, "program.py"], broker)


def test_java_connects(broker: Broker) -> None:
    files = []
    for section, block in broker.blocks("Java").items():
        files.append(f"{section}.properties")
        (broker.folder / files[-1]).write_text(block)
    code = ROOT / "tests" / "docs" / "connect"
    run([*java(JAVA_POM, [code], "Connect", "4.3.1"), *files], broker)


def test_franz_go_connects(broker: Broker) -> None:
    need("franz-go", "go")
    sections = "".join(
        "\t{\n" + block + "\tsend(options)\n\t}\n" for block in broker.blocks("franz-go").values()
    )
    code = broker.folder / "code"
    code.mkdir()
    for name in ("go.mod", "go.sum"):
        shutil.copy(DRIVERS / "go" / name, code)
    (code / "main.go").write_text(GO.replace("SECTIONS", sections))
    build(["go", "build", "-mod=mod", "-o", str(broker.folder / "program"), "."], code)
    run([str(broker.folder / "program")], broker)


def test_kafkajs_connects(broker: Broker) -> None:
    sections = "".join(
        "{\n" + block + "await send(kafka);\n}\n" for block in broker.blocks("kafkajs").values()
    )
    (broker.folder / "program.mjs").write_text(NODE + sections)
    package = DRIVERS / "node" / "package.json"
    run(node([package, broker.folder / "program.mjs"], "program.mjs"), broker)
