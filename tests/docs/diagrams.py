"""Make the drawings of the pages, with the text of real runs: `python -m tests.docs.diagrams`.

Each drawing is an SVG file that follows the reader's light or dark scheme.
"""

import contextlib
import json
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.docs.pictures import PICTURES
from tests.docs.shown import ROOT
from tests.support.browser import chromium
from tests.testing.plugin.nested import run_pytest

SHIM: Final = [sys.executable, "-m", "kafka_shim"]
STYLE: Final = """
text { fill: #1d1f23; white-space: pre; }
text { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.title { font: bold 15px system-ui, sans-serif; }
.note { fill: #5f6368; font: 13px system-ui, sans-serif; }
.denied { fill: #b3261e; }
.allowed { fill: #146c2e; }
.page { fill: #fff; }
.box { fill: #f5f6f8; stroke: #c4c7cc; }
.broker { fill: #e8f0fe; stroke: #0b57d0; }
.arrow { fill: none; stroke: #5f6368; stroke-width: 1.5; }
@media (prefers-color-scheme: dark) {
  text { fill: #e8eaed; }
  .note { fill: #b4b9c0; }
  .denied { fill: #f28b82; }
  .allowed { fill: #81c995; }
  .page { fill: #1e2129; }
  .box { fill: #2a2e37; stroke: #5f6368; }
  .broker { fill: #1d2f4f; stroke: #8ab4f8; }
  .arrow { stroke: #b4b9c0; }
}
"""
LINE: Final = 19
JOBS: Final = {
    "what-breaks": "what a change of ACLs denies",
    "unused-acls": "ACLs that nobody uses",
    "least-acls": "the fewest ACLs that suffice",
    "denials": "each denied access, and its remedy",
    "readiness": "what an upgrade breaks",
}
OUTPUTS: Final = {
    "": "a table",
    "--json, --csv": "for programs",
    "--html": "a page with charts",
    "--parquet": "files for Spark, pandas",
}
SOURCES: Final = {
    "kafka-shim run --record": "your tests",
    "kafka-shim proxy --record": "a real cluster",
    "kafka-shim trace import": "a capture, a log",
}
CALLS: Final = ("POST /topics", "POST /acls", "POST /faults", "GET /decisions", "GET /metrics")
CLIENT: Final = """\
from confluent_kafka import Producer


def test_carol_writes(kafka_broker):
    kafka_broker.topics.create("orders")
    errors = []
    producer = Producer(kafka_broker.config("carol"))
    producer.produce("orders", b"one", on_delivery=lambda error, _: errors.append(error))
    producer.flush()
    assert errors == [None]
"""
DENIED_CLIENT: Final = """\
import sys
from confluent_kafka import Producer
producer = Producer({
    "bootstrap.servers": sys.argv[1], "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN", "sasl.username": "carol", "sasl.password": "carol-secret"})
producer.produce("orders", b"one")
producer.flush(20)
"""
OPENED_ROW: Final = """
const rows = [...document.querySelectorAll("tbody tr")];
const row = rows.find((row) => /denied[^]*User:carol/.test(row.innerText));
row.click();
return [...row.cells].slice(2).map((cell) => cell.innerText.trim()).join("  ");
"""


@dataclass
class Drawing:
    """An SVG file that is being made; `title` is the alternative text, too."""

    title: str
    width: int
    height: int
    parts: list[str] = field(default_factory=list)

    def box(self, left: int, top: int, width: int, height: int, kind: str = "box") -> None:
        place = f'x="{left}" y="{top}" width="{width}" height="{height}"'
        self.parts.append(f'<rect class="{kind}" {place} rx="8"/>')

    def text(self, left: int, top: int, text: str, kind: str = "") -> None:
        attribute = f' class="{kind}"' if kind else ""
        self.parts.append(
            f'<text{attribute} x="{left}" y="{top}">{escape(text, quote=False)}</text>'
        )

    def lines(self, left: int, top: int, lines: Sequence[str]) -> None:
        for number, line in enumerate(lines):
            kind = "denied" if re.search(r"\b[dD]enied\b|AUTHORIZATION_FAILED", line) else ""
            self.text(left, top + number * LINE, line, kind)

    def arrow(
        self, start: tuple[int, int], end: tuple[int, int], *, is_double: bool = False
    ) -> None:
        tail = ' marker-start="url(#head)"' if is_double else ""
        path = f'd="M{start[0]} {start[1]} L{end[0]} {end[1]}"'
        self.parts.append(f'<path class="arrow" {path} marker-end="url(#head)"{tail}/>')

    def svg(self) -> str:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}"'
            f' width="{self.width}" height="{self.height}" role="img">'
        )
        marker = (
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8"'
            ' markerHeight="8" orient="auto-start-reverse"><path class="arrow" d="M1 1 L7 4 L1 7"/>'
            "</marker></defs>"
        )
        page = f'<rect class="page" width="{self.width}" height="{self.height}"/>'
        title = f"<title>{escape(self.title)}</title>"
        return "\n".join(
            [head, title, f"<style>{STYLE}</style>", marker, page, *self.parts, "</svg>\n"]
        )


def draw_ports(lines: Sequence[str]) -> Drawing:
    """Draw the port of clients and the control port, with what `serve` prints about them."""
    title = "Clients use the broker's ports by Kafka's protocol; tests use its control port by HTTP"
    drawing = Drawing(title, 940, 300)
    for top, name, does in (
        (30, "your program", "produces, consumes"),
        (170, "your test", "sets up, injects, asserts"),
    ):
        drawing.box(20, top, 220, 90)
        drawing.text(36, top + 28, name, "title")
        drawing.text(36, top + 52, does, "note")
    drawing.text(36, 246, "or a person in the inspector", "note")
    drawing.box(500, 20, 420, 260, "broker")
    drawing.text(516, 46, "kafka-shim", "title")
    clients = [line for line in lines if line.startswith("listening on")]
    controls = [line for line in lines if line.startswith(("control on", "inspector on"))]
    drawing.lines(516, 76, clients)
    drawing.text(516, 76 + LINE * len(clients), "ACLs decide what each user can do", "note")
    drawing.lines(516, 170, controls)
    for number, call in enumerate(CALLS):
        drawing.text(516 + 190 * (number % 2), 216 + LINE * (number // 2), call)
    drawing.arrow((246, 75), (494, 75), is_double=True)
    drawing.text(290, 66, "Kafka's protocol", "note")
    drawing.arrow((246, 215), (494, 215), is_double=True)
    drawing.text(290, 206, "HTTP and JSON", "note")
    return drawing


def draw_jobs() -> Drawing:
    """Draw how traces come about, which jobs read them, and what the jobs write."""
    drawing = Drawing("A trace is recorded or imported; jobs read it and write results", 1120, 290)
    columns = (
        (20, 280, "recorded or imported", SOURCES),
        (480, 330, "kafka-shim pipeline", JOBS),
        (870, 230, "results", OUTPUTS),
    )
    for left, width, name, rows in columns:
        drawing.box(left, 20, width, 250)
        drawing.text(left + 16, 46, name, "title")
        for number, (command, meaning) in enumerate(rows.items()):
            top = 78 + number * 40
            drawing.text(left + 16, top, command or meaning)
            drawing.text(left + 16, top + 17, meaning if command else "on the terminal", "note")
    drawing.box(350, 105, 80, 80, "broker")
    drawing.text(369, 150, "trace", "title")
    for start, end in ((304, 346), (434, 476), (814, 866)):
        drawing.arrow((start, 145), (end, 145))
    return drawing


def draw_what_breaks(result: Mapping[str, Any]) -> Drawing:
    """Draw the accesses that new ACLs newly deny or allow, and the requests that change."""
    rows = result["rows"]
    drawing = Drawing("A what-breaks result: accesses newly denied and newly allowed", 900, 0)
    notes = [line for line in result["notes"] if "newly" in line or line.startswith("  ")]
    drawing.box(20, 16, 860, 20 + LINE * len(notes))
    for number, line in enumerate(notes):
        drawing.text(36, 40 + number * LINE, line)
    top = 76 + LINE * len(notes)
    heads = ("change", "access", "requests", "decided by", "would be decided by")
    lefts = (36, 180, 460, 570, 720)
    for left, head in zip(lefts, heads, strict=True):
        drawing.text(left, top, head, "title")
    for row in rows:
        top += 30
        kind = "denied" if row["change"] == "newly denied" else "allowed"
        access = f"{row['principal']} {row['operation'].capitalize()}"
        decided = [_decider(row[name]) for name in ("rule", "would_be_rule")]
        resource = f"{row['resource_type'].lower()} {row['resource_name']}"
        cells = (row["change"], f"{access} {resource}", str(row["requests"]), *decided)
        for left, cell in zip(lefts, cells, strict=True):
            drawing.text(left, top, cell, kind if left == lefts[0] else "")
    drawing.height = top + 24
    return drawing


def _decider(rule: str) -> str:
    """Return `no ACL`, or the kind and operation of the ACL, which a cell has room for."""
    if "|" not in rule and not rule.startswith("{"):
        return "no ACL"
    words = re.search(r"(allow|deny): (\w+)", rule) or re.search(r"\|(\w+)\|(ALLOW|DENY)$", rule)
    assert words is not None, rule
    kind, operation = words.groups() if rule.startswith("{") else reversed(words.groups())
    return f"{kind.lower()} {operation.capitalize()}"


def draw_denial(panes: Mapping[str, Sequence[str]]) -> Drawing:
    """Draw one denial as each place shows it."""
    drawing = Drawing(f"The same denial in {', '.join(panes)}", 916, 0)
    wrapped = {
        name: [part for line in lines for part in _wrap(line)] for name, lines in panes.items()
    }
    names = list(wrapped)
    top = 16
    for pair in (names[:2], names[2:]):
        height = 60 + LINE * max(len(wrapped[name]) for name in pair)
        for number, name in enumerate(pair):
            left = 16 + number * 448
            drawing.box(left, top, 436, height)
            drawing.text(left + 16, top + 28, name, "title")
            drawing.lines(left + 16, top + 56, wrapped[name])
        top += height + 16
    drawing.height = top
    return drawing


def _wrap(line: str) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.wrap(line, 51, subsequent_indent=indent, break_on_hyphens=False) or [""]


@dataclass(frozen=True)
class Served:
    """A running broker: its addresses by name, its first lines, and the lines of its log."""

    addresses: Mapping[str, str]
    lines: Sequence[str]
    log: Path

    def shown(self, text: str) -> str:
        """Return text with the ports of the pages instead of those of this run."""
        ports = {"PLAINTEXT": "9092", "SASL_PLAINTEXT": "9093", "http": "8082"}
        for name, port in ports.items():
            text = text.replace(self.addresses[name], f"127.0.0.1:{port}")
        return text


@contextlib.contextmanager
def served(folder: Path) -> Iterator[Served]:
    """Run `kafka-shim serve` with a control port, the topic orders and the user carol."""
    listeners = [f"--listener={name}://127.0.0.1:0" for name in ("PLAINTEXT", "SASL_PLAINTEXT")]
    options = ["--control=127.0.0.1:0", "--topic=orders", "--user=carol:carol-secret"]
    log = folder / "broker.log"
    with log.open("w") as errors:
        child = subprocess.Popen(
            [*SHIM, "serve", *listeners, *options], stdout=subprocess.PIPE, stderr=errors, text=True
        )
    assert child.stdout is not None
    try:
        lines = []
        for line in child.stdout:
            lines.append(line.rstrip())
            if "started" in line:
                break
        addresses = dict(re.findall(r" on (\w+)://([\d.:]+)$", "\n".join(lines), re.MULTILINE))
        yield Served(addresses, lines, log)
    finally:
        child.terminate()
        child.wait(20)
        child.stdout.close()


def what_breaks() -> Mapping[str, Any]:
    """Return the result of the job on the trace of the repository."""
    command = (
        "pipeline what-breaks examples/trace --acls examples/pipeline_demo_candidate.yaml --json"
    )
    done = subprocess.run(
        [*SHIM, *command.split()], cwd=ROOT, capture_output=True, text=True, check=True
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def denial_panes(broker: Served, folder: Path) -> dict[str, list[str]]:
    """Return how pytest, the log and explain show that carol is denied."""
    (folder / "test_carol.py").write_text(CLIENT)
    report = run_pytest(folder).stdout.partition("Denied by the Kafka broker")[2]
    report = re.sub(r", \d+ times\)", ")", report)  # a client tries until its time is over
    address = broker.addresses["SASL_PLAINTEXT"]
    subprocess.run(
        [sys.executable, "-c", DENIED_CLIENT, address], capture_output=True, check=True, timeout=60
    )
    deadline = time.monotonic() + 20
    while " is Denied " not in (log := broker.log.read_text()):  # it is written a moment later
        assert time.monotonic() < deadline, log
        time.sleep(0.05)
    logged = next(line for line in log.splitlines() if " is Denied " in line)
    command = (
        "explain --bootstrap-server 127.0.0.1:9092 --principal User:carol --operation Describe"
        " --resource topic:orders"
    )
    words = command.replace("127.0.0.1:9092", broker.addresses["PLAINTEXT"]).split()
    explained = subprocess.run([*SHIM, *words], capture_output=True, text=True, check=False)
    return {
        "pytest": report.splitlines()[1:4],
        "log": [logged.partition("] ")[2]],
        "explain": [f"$ kafka-shim {command}", *broker.shown(explained.stdout).splitlines()],
    }


def inspector_lines(driver: Any, broker: Served) -> list[str]:
    """Return what the inspector shows of carol's denial: its row, and the open decision."""
    driver.get(f"http://{broker.addresses['http']}/inspector#decisions")
    deadline = time.monotonic() + 20
    while "denied" not in driver.find_element("css selector", "main").text:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    row = driver.execute_script(OPENED_ROW)
    while "To allow the whole request" not in (
        text := driver.find_element("tag name", "body").text
    ):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    opened = text.partition("To allow the whole request")[2].partition("Show bytes")[0]
    lines = [
        line.strip() for line in opened.splitlines() if line.strip() not in ("", "Copy", "Add it")
    ]
    return [row, "", "To allow the whole request", *lines]


def main() -> None:
    with TemporaryDirectory() as name, served(Path(name)) as broker, chromium() as driver:
        panes = denial_panes(broker, Path(name))
        panes["inspector"] = inspector_lines(driver, broker)
        drawings = {
            "ports": draw_ports([broker.shown(line) for line in broker.lines]),
            "jobs": draw_jobs(),
            "what-breaks": draw_what_breaks(what_breaks()),
            "denial": draw_denial(panes),
        }
    for name, drawing in drawings.items():
        (PICTURES / f"{name}.svg").write_text(drawing.svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
