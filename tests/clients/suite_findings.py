"""Reads the causes of failed cases from conformance/findings.toml."""

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

FINDINGS = Path(__file__).parents[2] / "conformance" / "findings.toml"


class Finding(msgspec.Struct, frozen=True):
    """The cause of failed cases: what the client does, and further evidence."""

    clients: tuple[str, ...]
    cases: tuple[str, ...]
    what: str
    seen: str
    is_rare: bool = False
    """Whether the cases fail in some runs only, because of a race."""

    def concerns(self, client: str) -> bool:
        return client in self.clients

    def explains(self, case: str) -> bool:
        return any(fnmatchcase(case, pattern) for pattern in self.cases)


def read_findings(path: Path = FINDINGS) -> list[Finding]:
    """Return the findings; ValueError if one is invalid."""
    table = tomllib.loads(path.read_text())
    return msgspec.convert(table["finding"], list[Finding])
