"""Runs the tests of Go projects that take the broker's address from a variable."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.suites.broker import Broker
from tests.suites.cache import fetched, go_module, need, patch, run_to_file
from tests.suites.outcome import Result, of_go

RUN_SECONDS = 900


@dataclass(frozen=True)
class GoProject:
    """A project: the package with its tests, and changes of texts in them by file."""

    module: str
    version: str
    package: str
    address_variable: str
    environment: Mapping[str, str] = field(default_factory=dict)
    changes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def run(self, broker: Broker, only: str) -> list[Result]:
        need("go")
        name = self.module.split("/")[2]

        def fetch(folder: Path) -> None:
            go_module(self.module, self.version, folder)
            for pattern, changes in self.changes.items():
                patch(folder, pattern, changes)

        folder = fetched(f"{name}-{self.version}", fetch)
        output = folder / "output.json"
        words = ["go", "test", "-json", "-count=1", f"-timeout={RUN_SECONDS}s"]
        words += [*(["-run", only] if only else []), self.package]
        environment = {**self.environment, self.address_variable: broker.plaintext}
        run_to_file(words, folder, environment, output, RUN_SECONDS + 60)
        return of_go(output.read_text())


GOKA = GoProject(
    "github.com/lovoo/goka",
    "1.1.13",
    "./systemtest",
    "GOKA_SYSTEMTEST_BROKERS",
    {"GOKA_SYSTEMTEST": "y"},
    {
        "systemtest/topicmanager_test.go": {'"test10", 4, 2, nil': '"test10", 4, 1, nil'},
        "topic_manager.go": {"Replication = 2": "Replication = 1"},
    },
)
WATERMILL = GoProject(
    "github.com/ThreeDotsLabs/watermill-kafka/v3",
    "3.0.6",
    "./pkg/kafka",
    "WATERMILL_TEST_KAFKA_BROKERS",
)
