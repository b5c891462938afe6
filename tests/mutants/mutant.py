"""A planted bug: a replacement in one file of a package, and the checks that must find it."""

import shutil
import tomllib
from pathlib import Path

import msgspec

FOLDER = Path(__file__).parent


class Mutant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bug; `old` occurs exactly once in `file`, and at least one of `cases` must find it.

    `cases` are patterns of the suite's cases for a client, and of files in `vectors/` for the shim.
    """

    name: str
    file: str
    old: str
    new: str
    cases: tuple[str, ...]


class MutantError(Exception):
    """A mutant does not fit to the package, which has changed."""


def read_mutants(name: str) -> list[Mutant]:
    """Return the bugs for a package, in the order of the file."""
    table = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    return msgspec.convert(table["mutant"], list[Mutant])


def plant_bug(mutant: Mutant, package: Path, folder: Path) -> Path:
    """Copy a package to a folder with the bug; return the folder, which goes onto PYTHONPATH.

    Raise MutantError unless the text to replace occurs exactly once.
    """
    source = (package / mutant.file).read_text(encoding="utf-8")
    count = source.count(mutant.old)
    if count != 1:
        raise MutantError(f"`{mutant.name}`: its text occurs {count} times in {mutant.file}")
    copy = folder / package.name
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / mutant.file).write_text(source.replace(mutant.old, mutant.new), encoding="utf-8")
    return folder
