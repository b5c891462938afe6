"""Runs kafka-go's own tests, whose source has fixed broker ports."""

import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.suites.broker import Broker, Needs
from tests.suites.cache import fetched, go_module, need, run_to_file
from tests.suites.outcome import Result, of_go

VERSION = "0.4.51"
NEEDS = Needs(
    users=dict.fromkeys(("adminplain", "adminscram256", "adminscram512"), "admin-secret"),
    settings={"message.max.bytes": "200000000", "allow.everyone.if.no.acl.found": "true"},
)
RUN_SECONDS = 1200
PACKAGES = (".", "./sasl")
_PASSWORD = re.compile(r'"admin-secret-(256|512)"')
"""Passwords to replace: users of this broker have one password for all mechanisms."""
_ADDRESS_TESTS = "address_test.go"
"""A file with addresses that no test connects to."""
LEFT_OUT = {
    "^TestDialerResolver$": "dials port 9092 of a name",
    "^TestReaderConsumerGroup$/(verify_offset_committed|commits_on_close)": "ends the whole run:"
    " it makes a group without the function that connects",
}
_TEST = re.compile(r"^func (Test\w+)\(\w+ \*testing\.T\)", re.MULTILINE)


def run(broker: Broker, only: str) -> list[Result]:
    need("go")
    source = fetched(
        f"kafka-go-{VERSION}", lambda to: go_module("github.com/segmentio/kafka-go", VERSION, to)
    )
    output = source.parent / f"kafka-go-{VERSION}.json"
    with TemporaryDirectory(prefix="kafka-go-") as name:
        folder = Path(name) / "kafka-go"
        shutil.copytree(source, folder)
        _name_addresses(folder, broker)
        words = ["go", "test", "-json", "-count=1", "-p=1", f"-timeout={RUN_SECONDS}s"]
        words += ["-skip", "|".join(LEFT_OUT), "-run", only or _names(folder), *PACKAGES]
        environment = {
            "GOFLAGS": "-mod=mod",  # its go.mod lacks dependencies of its tests
            "KAFKA_VERSION": broker.release,
            "KAFKA_SKIP_NETTEST": "1",  # as in its own CI
        }
        run_to_file(words, folder, environment, output, RUN_SECONDS + 60)
    return of_go(output.read_text())


def _name_addresses(folder: Path, broker: Broker) -> None:
    """Replace addresses and passwords in the tests by those of the broker."""
    for path in folder.rglob("*_test.go"):
        if path.name == _ADDRESS_TESTS:
            continue
        text = _PASSWORD.sub('"admin-secret"', path.read_text())
        text = text.replace('TCP("localhost")', f'TCP("{broker.plaintext}")')
        for port, address in (("9092", broker.plaintext), ("9093", broker.sasl_plaintext)):
            text = re.sub(rf"(localhost|127\.0\.0\.1):{port}", address, text)
            text = re.sub(rf"\b{port}\b", address.rpartition(":")[2], text)
        path.write_text(text.replace('"localhost"', '"127.0.0.1"'))


def _names(folder: Path) -> str:
    """Return a pattern of all tests except those of addresses, which need no broker."""
    files = [path for package in PACKAGES for path in (folder / package).glob("*_test.go")]
    names = {
        name
        for path in files
        if path.name != _ADDRESS_TESTS
        for name in _TEST.findall(path.read_text())
    }
    return f"^({'|'.join(sorted(names))})$"
