"""Find the files with ACLs in a folder; the other files are named on standard error."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import msgspec

from kafka_shim.authorizer.acl_formats.bystander_files import local_modules, why_passed_over
from kafka_shim.shim.cli.policy.input_error import InputError, text_of_file

SUFFIXES = (".yaml", ".yml", ".json", ".csv", ".tf", ".sh", ".txt", ".acls")
"""What of a folder is read."""
_OF_TOOLS = (".git", ".terraform")
"""Folders that tools make; what they hold of ACLs is refused where it is named."""
_NAMED_MAX = 5


class File(msgspec.Struct, frozen=True):
    """A file and its text."""

    path: str
    text: str


def files_with_acls(folder: Path) -> list[File]:
    """Return the files with ACLs; InputError if there are none."""
    found: list[File] = []
    passed: list[str] = []
    unread: list[str] = []
    for path in _files(folder):
        name = str(path.relative_to(folder))
        if path.suffix not in SUFFIXES:
            unread += [] if _is_hidden(path.relative_to(folder)) else [name]
            continue
        text = text_of_file(str(path))
        _check_modules(folder, path, text)
        reason = why_passed_over(text, path.name)
        if reason is None:
            found.append(File(str(path), text))
        else:
            passed.append(f"{name} ({reason})")
    if not found:
        raise InputError(
            f"{folder}: no files with ACLs ({', '.join(SUFFIXES)}) in this folder"
            + (f"; skipped: {listed(passed)}" if passed else "")
        )
    _note(folder, "skipped (no ACLs)", passed)
    _note(folder, "not read (file type)", unread)
    return found


def listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED_MAX} more" if len(names) > _NAMED_MAX else ""
    return ", ".join(names[:_NAMED_MAX]) + more


def _note(folder: Path, said: str, names: Sequence[str]) -> None:
    if names:
        sys.stderr.write(f"note: {folder}: {said}: {listed(names)}\n")


def _files(folder: Path) -> list[Path]:
    """Return all files in the folder and below it; OSError if a folder cannot be read."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = [name for name in folders if name not in _OF_TOOLS]
        _check_links(folder, [Path(place, name) for name in (*folders, *names)])
        found += filter(Path.is_file, (Path(place, name) for name in names))
    return sorted(found)


def _raise(error: OSError) -> NoReturn:
    raise error


def _check_links(folder: Path, paths: Sequence[Path]) -> None:
    """Raise InputError for broken links, and for links to other folders, which are not followed."""
    for path in paths:
        if path.is_symlink():
            if not path.exists():
                raise InputError(f"{path}: a broken link")
            if path.is_dir() and not path.resolve().is_relative_to(folder.resolve()):
                raise InputError(f"{path}: a link out of {folder}, which is not followed")


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _check_modules(folder: Path, path: Path, text: str) -> None:
    """Raise InputError for a Terraform module with files outside of the folder."""
    if path.suffix != ".tf":
        return
    for source, line in local_modules(text):
        if not (path.parent / source).resolve().is_relative_to(folder.resolve()):
            raise InputError(f"{path}:{line}: the module {source} is not within {folder}")
