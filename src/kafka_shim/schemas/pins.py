"""The jars the definitions come from, as `[tool.kafka-schemas]` in pyproject.toml pins them."""

import hashlib
import tomllib
from pathlib import Path
from typing import NamedTuple

PYPROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"


class Jar(NamedTuple):
    """One pinned jar; `only` names the messages taken from it, empty means all."""

    artifact: str
    sha256: str
    only: frozenset[str]

    @property
    def file_name(self) -> str:
        _, name, version = self.artifact.split(":")
        return f"{name}-{version}.jar"

    @property
    def repository_path(self) -> Path:
        """Where Maven keeps this jar, below a repository's root."""
        group, name, version = self.artifact.split(":")
        return Path(*group.split("."), name, version, self.file_name)


class Pins(NamedTuple):
    """All pinned jars, oldest first, and the messages that are left out."""

    jars: tuple[Jar, ...]
    without: frozenset[str]

    @property
    def newest(self) -> str:
        """The newest release, with its patch: "4.4.0"."""
        return self.jars[-1].artifact.rpartition(":")[2]


def read_pins(pyproject: Path = PYPROJECT) -> Pins:
    """Return the pins. Raise FileNotFoundError outside of a source checkout."""
    table = tomllib.loads(pyproject.read_text())["tool"]["kafka-schemas"]
    jars = tuple(
        Jar(jar["artifact"], jar["sha256"], frozenset(jar.get("only", ()))) for jar in table["jars"]
    )
    return Pins(jars, frozenset(table.get("without", ())))


def sha256_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
