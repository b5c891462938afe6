"""Runs the tests of franz-go's client kgo that connect to a broker."""

import re
from pathlib import Path

from tests.suites.broker import Broker, Needs
from tests.suites.cache import SuiteError, fetched, go_module, need, run_to_file
from tests.suites.outcome import Result, of_go

VERSION = "1.21.5"
NEEDS = Needs(users={"admin": "admin-secret", "testuser": "testpass"})
RUN_SECONDS = 1800

_TALKS_TO_BROKER = re.compile(
    r"\b(newTestClient|testClientOpts|getSeedBrokers|scramSeeds|tmpTopic|tmpGroup|adm)\b"
)
_TEST = re.compile(r"^func (Test\w+)\(.*?^}", re.MULTILINE | re.DOTALL)


def run(broker: Broker, only: str) -> list[Result]:
    need("go")
    folder = fetched(
        f"franz-go-{VERSION}", lambda to: go_module("github.com/twmb/franz-go", VERSION, to)
    )
    package = folder / "pkg" / "kgo"
    environment = {
        "KGO_SEEDS": broker.plaintext,
        "KGO_TEST_RF": "1",
        "KGO_LOG_LEVEL": "none",
        "KGO_TEST_STABLE_FETCH": "true",
        "KGO_TEST_SCRAM": "testuser:testpass",
        "KGO_TEST_SCRAM_SEEDS": broker.sasl_plaintext,
    }
    output = folder / "output.json"
    words = ["go", "test", "-json", "-count=1", f"-timeout={RUN_SECONDS}s"]
    words += ["-run", only or _names(package), "."]
    run_to_file(words, package, environment, output, RUN_SECONDS + 60)
    return of_go(output.read_text())


def _names(package: Path) -> str:
    """Return a pattern of the tests that connect to a broker."""
    texts = [path.read_text() for path in package.glob("*_test.go")]
    tests = [match for text in texts for match in _TEST.finditer(text)]
    found = sorted(match[1] for match in tests if _TALKS_TO_BROKER.search(match[0]))
    if not found:
        raise SuiteError(f"no test in {package} makes a client of a broker")
    return f"^({'|'.join(found)})$"
