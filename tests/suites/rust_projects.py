"""Runs the integration tests of Rust projects that take the broker's address from a variable."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.suites.broker import Broker, Needs
from tests.suites.cache import SuiteError, command, fetched, need, patch, run_to_file
from tests.suites.outcome import FAILED, Result, of_cargo

RUN_SECONDS = 1800
_MANIFEST = """
[package]
name = "wanted"
version = "0.0.0"
edition = "2021"
[lib]
path = "lib.rs"
[dependencies]
{crate} = "={version}"
"""


@dataclass(frozen=True)
class RustProject:
    """A project: its crate, the files with tests, and changes of texts in them by file.

    The variables of `addresses` and `sasl_addresses` get HOST:PORT of the broker's listeners
    PLAINTEXT and SASL_PLAINTEXT, those of `releases` its release. Tests with a text of `left_out`
    in their name do not run. `updated` are crates whose locked version new compilers refuse.
    """

    crate: str
    version: str
    addresses: tuple[str, ...]
    tests: str = "*"
    left_out: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    sasl_addresses: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    changes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def run(self, broker: Broker, only: str) -> list[Result]:
        need("cargo", "cc", "make")
        folder = fetched(f"rust-{self.crate}-{self.version}", self._fetch)
        output = folder / "output.txt"
        environment = {
            **self.environment,
            **dict.fromkeys(self.addresses, broker.plaintext),
            **dict.fromkeys(self.sasl_addresses, broker.sasl_plaintext),
            **dict.fromkeys(self.releases, broker.release),
            "CARGO_TERM_COLOR": "never",
            "RUST_LOG": "off",
        }
        words = ["cargo", "test", "--no-fail-fast"]
        for path in sorted((folder / "tests").glob(f"{self.tests}.rs")):
            words += ["--test", path.stem]
        words += ["--", "--test-threads=1", *([only] if only else [])]
        words += [f"--skip={text}" for text in self.left_out]
        ended = run_to_file(words, folder, environment, output, RUN_SECONDS)
        results = of_cargo(output.read_text())
        if not ended:
            results.append(Result("cargo test", FAILED, RUN_SECONDS, "did not end"))
        return results

    def _fetch(self, folder: Path) -> None:
        made = {
            "Cargo.toml": _MANIFEST.format(crate=self.crate, version=self.version),
            "lib.rs": "",
        }
        for name, text in made.items():
            (folder / name).write_text(text)
        said = json.loads(command(["cargo", "metadata", "--format-version=1"], folder))
        found = [row["manifest_path"] for row in said["packages"] if row["name"] == self.crate]
        if not found:
            raise SuiteError(f"cargo metadata does not name {self.crate}")
        for name in (*made, "Cargo.lock"):
            (folder / name).unlink()
        # the toolchain on the PATH builds it, not the one that its authors pin
        ignored = shutil.ignore_patterns("rust-toolchain*")
        shutil.copytree(Path(found[0]).parent, folder, ignore=ignored, dirs_exist_ok=True)
        for pattern, changes in self.changes.items():
            patch(folder, pattern, changes)
        if self.updated:
            command(["cargo", "update", *self.updated], folder)
        command(["cargo", "test", "--no-run", "--tests"], folder)


RDKAFKA = RustProject(
    "rdkafka",
    "0.39.0",
    ("KAFKA_HOST",),
    tests="test_*",
    releases=("KAFKA_VERSION",),
    changes={
        "tests/test_metadata.rs": {
            "assert_eq!(broker_metadata[0].port(), 9092);": "assert!(get_bootstrap_server()"
            '.ends_with(&format!(":{}", broker_metadata[0].port())));'
        }
    },
)
RDKAFKA_NEEDS = Needs(settings={"num.partitions": "3"}, broker_id=0)
"""The same settings as in the project's own tests."""
RSKAFKA = RustProject(
    "rskafka",
    "0.6.0",
    ("KAFKA_CONNECT",),
    left_out=("java",),
    updated=("rsasl",),
    sasl_addresses=("KAFKA_SASL_CONNECT",),
    environment={"TEST_INTEGRATION": "1", "TEST_BROKER_IMPL": "kafka"},
)
RSKAFKA_NEEDS = Needs(settings={"auto.create.topics.enable": "false"})
SAMSA = RustProject("samsa", "0.1.8", ("KAFKA_BROKERS",), tests="[!rt]*", updated=("rsasl",))
