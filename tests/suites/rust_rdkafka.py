"""Runs rust-rdkafka's own integration tests."""

import json
import shutil
from pathlib import Path

from tests.suites.broker import Broker, Needs
from tests.suites.cache import SuiteError, command, fetched, need, patch, run_to_file
from tests.suites.outcome import FAILED, Result, of_cargo

VERSION = "0.39.0"
NEEDS = Needs(settings={"num.partitions": "3"}, broker_id=0)
"""The same settings as in the project's own tests."""
RUN_SECONDS = 1800
_PORT = {
    "assert_eq!(broker_metadata[0].port(), 9092);": "assert!(get_bootstrap_server()"
    '.ends_with(&format!(":{}", broker_metadata[0].port())));'
}
_MANIFEST = f"""
[package]
name = "wanted"
version = "0.0.0"
edition = "2021"
[lib]
path = "lib.rs"
[dependencies]
rdkafka = "={VERSION}"
"""


def run(broker: Broker, only: str) -> list[Result]:
    need("cargo", "cc", "make")
    folder = fetched(f"rust-rdkafka-{VERSION}", _fetch)
    output = folder / "output.txt"
    environment = {
        "KAFKA_HOST": broker.plaintext,
        "KAFKA_VERSION": broker.release,
        "CARGO_TERM_COLOR": "never",
        "RUST_LOG": "off",
    }
    words = ["cargo", "test", "--no-fail-fast"]
    for path in sorted((folder / "tests").glob("test_*.rs")):
        words += ["--test", path.stem]
    words += ["--", "--test-threads=1", *([only] if only else [])]
    ended = run_to_file(words, folder, environment, output, RUN_SECONDS)
    results = of_cargo(output.read_text())
    if not ended:
        results.append(Result("cargo test", FAILED, RUN_SECONDS, "did not end"))
    return results


def _fetch(folder: Path) -> None:
    (folder / "Cargo.toml").write_text(_MANIFEST)
    (folder / "lib.rs").touch()
    said = json.loads(command(["cargo", "metadata", "--format-version=1"], folder))
    found = [row["manifest_path"] for row in said["packages"] if row["name"] == "rdkafka"]
    if not found:
        raise SuiteError("cargo metadata does not name rdkafka")
    source = Path(found[0]).parent
    for path in (folder / "Cargo.toml", folder / "Cargo.lock", folder / "lib.rs"):
        path.unlink()
    shutil.copytree(source, folder, dirs_exist_ok=True)
    patch(folder, "tests/test_metadata.rs", _PORT)
    command(["cargo", "test", "--no-run", "--tests"], folder)
