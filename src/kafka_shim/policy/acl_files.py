"""Read ACLs from files and folders, with their places; all errors are reported together.

The files of a folder that are not read are named on standard error.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.acl_requests import creation_error
from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats import (
    detect_format,
    parse_acls_with_lines,
    resources_without_acls,
)
from kafka_shim.policy.formats.files_without_acls import describe_foreign_file
from kafka_shim.policy.formats.kafka_list import describe_partial_list, ends_with_heading
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.policy.kustomizations import KUSTOMIZATIONS, check_kustomization
from kafka_shim.policy.lint import LocatedAcl
from kafka_shim.policy.terraform_folders import check_terraform_folder, is_ignored_by_terraform
from kafka_shim.text.input_files import InputError, place_text, read_text_without_bom
from kafka_shim.text.message_text import escaped

READ_SUFFIXES = (".yaml", ".yml", ".json", ".csv", ".tf", ".sh", ".txt", ".acls")
"""What of a folder is read."""
_TOOL_FOLDERS = (".git", ".terraform")
"""Folders that tools make; what they hold of ACLs is refused where it is named."""
_LISTED_NAMES_MAX = 5


class TextFile(msgspec.Struct, frozen=True):
    """A file and its text."""

    path: str
    text: str
    is_of_folder: bool = False


def read_acl_files(folder: Path) -> list[TextFile]:
    """Return the files with ACLs. Raise InputError if there are none."""
    acl_files: list[TextFile] = []
    skipped: list[str] = []
    unread: list[str] = []
    terraform: dict[Path, str] = {}
    for path in _find_files(folder):
        name = str(path.relative_to(folder))
        if path.suffix not in READ_SUFFIXES or is_ignored_by_terraform(path.name):
            unread += [] if _is_hidden(path.relative_to(folder)) else [name]
            continue
        text = read_text_without_bom(str(path))
        if path.suffix == ".tf" or path.name.endswith(".tf.json"):
            terraform[path] = text
        if path.name in KUSTOMIZATIONS:
            check_kustomization(folder, path, text)
        reason = describe_foreign_file(text, path.name)
        if reason is None:
            acl_files.append(TextFile(str(path), text, is_of_folder=True))
        else:
            skipped.append(f"{name} ({reason})")
    acl_paths = {Path(file.path) for file in acl_files}
    check_terraform_folder(folder, terraform, acl_paths & terraform.keys())
    if not acl_files:
        raise InputError(
            f"{folder}: no files with ACLs ({', '.join(READ_SUFFIXES)}) in this folder"
            + (f"; skipped: {first_names_text(skipped)}" if skipped else "")
        )
    _print_note_on_files(folder, "skipped (no ACLs)", skipped)
    _print_note_on_files(folder, "not read (file type)", unread)
    return acl_files


def first_names_text(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED_NAMES_MAX} more" if len(names) > _LISTED_NAMES_MAX else ""
    return ", ".join(map(escaped, names[:_LISTED_NAMES_MAX])) + more


def _print_note_on_files(folder: Path, reason: str, names: Sequence[str]) -> None:
    if names:
        sys.stderr.write(f"note: {folder}: {reason}: {first_names_text(names)}\n")


def _find_files(folder: Path) -> list[Path]:
    """Return all files in the folder and below it. Raise OSError if a folder cannot be read."""
    paths: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=_raise_error):
        folders[:] = [name for name in folders if name not in _TOOL_FOLDERS]
        _check_folder_links(folder, [Path(place, name) for name in (*folders, *names)])
        paths += filter(Path.is_file, (Path(place, name) for name in names))
    return sorted(paths)


def _raise_error(error: OSError) -> NoReturn:
    raise error


def _check_folder_links(folder: Path, paths: Sequence[Path]) -> None:
    """Raise InputError for broken links, and for links to other folders, which are not followed."""
    for path in paths:
        if path.is_symlink():
            if not path.exists():
                raise InputError(f"{path}: a broken link")
            if path.is_dir() and not path.resolve().is_relative_to(folder.resolve()):
                raise InputError(f"{path}: a link out of {folder}, which is not followed")


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


_FORMATS_WITHOUT_EMPTY_LIST = ("list", "terraform", "terraform-confluent")
"""Forms that do not say that there are no ACLs."""


def read_accepted_acls(paths: Sequence[str], release: str) -> list[Acl]:
    """Return the ACLs without duplicates. Raise InputError also for ACLs that the release
    rejects.
    """
    return list(dict.fromkeys(each.acl for each in read_accepted_located_acls(paths, release)))


def read_accepted_located_acls(paths: Sequence[str], release: str) -> list[LocatedAcl]:
    """Return the ACLs with their places. Raise InputError also for ACLs that the release
    rejects.
    """
    located_acls = read_located_acls(paths)
    rules = acl_rules_of_release(release)
    rejections = [
        f"{place_text(each.path, each.line)}: Kafka {release} refuses {acl_line(each.acl)}:"
        f" {error.message}"
        for each in located_acls
        if (error := creation_error(each.acl, rules)) is not None
    ]
    if rejections:
        raise InputError(*rejections)
    return located_acls


def read_located_acls(paths: Sequence[str]) -> list[LocatedAcl]:
    """Return the ACLs with their places, also those that a release would reject."""
    located_acls: list[LocatedAcl] = []
    messages: list[str] = []
    files: list[TextFile] = []
    for path in paths:
        try:
            for file in _read_path(path):
                files.append(file)
                try:
                    located_acls += _parse_located_acls(file)
                except InputError as error:
                    messages += error.messages
        except InputError as error:
            messages += error.messages
    if messages or (messages := _conflicts_among_files(files)):
        raise InputError(*messages)
    return located_acls


def _conflicts_among_files(files: Sequence[TextFile]) -> list[str]:
    """Return errors about Strimzi's users in several files that cannot be those of one cluster."""
    files = [
        file
        for file in {Path(file.path).resolve(): file for file in files}.values()
        if "KafkaUser" in file.text and detect_format(file.text, file.path) == "strimzi"
    ]
    if len(files) < 2:
        return []
    from kafka_shim.policy.formats.strimzi import find_conflicts, parse_users  # noqa: PLC0415 - only for several files

    users = [(user, file.path) for file in files for user in parse_users(file.text)]
    return [
        f"{place_text(users[position][1], users[position][0].line)}: {conflict}"
        for position, conflict in find_conflicts(user for user, _ in users)
    ]


def _read_path(path: str) -> Sequence[TextFile]:
    return (
        read_acl_files(Path(path))
        if Path(path).is_dir()
        else [TextFile(path, read_text_without_bom(path))]
    )


def _parse_located_acls(file: TextFile) -> Iterator[LocatedAcl]:
    path, text = file.path, file.text
    if not text.strip():
        raise InputError(f"{path}: the file is empty; `acls: []` says that there are no ACLs")
    form = detect_format(text, path)
    try:
        acls_with_lines = parse_acls_with_lines(text, form, reads_modules=file.is_of_folder)
    except AclTextError as error:
        raise InputError(
            *(
                f"{place_text(path, each.line)}: {each.message}"
                for each in (error, *error.further_errors)
            )
        ) from error
    if form == "list" and ends_with_heading(text):
        raise InputError(f"{path}: the list ends after a heading, without the ACLs below it")
    if not acls_with_lines and (form in _FORMATS_WITHOUT_EMPTY_LIST or _has_only_comments(text)):
        raise InputError(f"{path}: there are no ACLs in it; `acls: []` says that there are none")
    if form == "list" and (lack := describe_partial_list(text)) is not None:
        sys.stderr.write(f"note: {path}: {escaped(lack)}\n")
    skipped_resources = resources_without_acls(text, form)
    if skipped_resources:
        sys.stderr.write(
            f"note: {path}: skipped (no ACLs): {first_names_text(skipped_resources)}\n"
        )
    return (LocatedAcl(acl, path, line) for acl, line in acls_with_lines)


def _has_only_comments(text: str) -> bool:
    lines = filter(None, map(str.strip, text.splitlines()))
    return all(line.startswith(("#", "//", "---", "...")) for line in lines)
