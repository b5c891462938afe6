"""Read ACLs from files and folders, with their places; all errors are reported together."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.acl_requests import creation_error
from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.acl_folders import (
    TextFile,
    first_names_text,
    read_acl_files,
)
from kafka_shim.policy.formats import (
    detect_format,
    parse_acls_with_lines,
    resources_without_acls,
)
from kafka_shim.policy.formats.kafka_list import ends_with_heading
from kafka_shim.policy.formats.rule_lines import acl_line
from kafka_shim.policy.lint import LocatedAcl
from kafka_shim.text.input_errors import InputError, place_text
from kafka_shim.text.input_files import read_text_without_bom

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
    for path in paths:
        try:
            for file in _read_path(path):
                try:
                    located_acls += _parse_located_acls(file)
                except InputError as error:
                    messages += error.messages
        except InputError as error:
            messages += error.messages
    if messages:
        raise InputError(*messages)
    return located_acls


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
    skipped_resources = resources_without_acls(text, form)
    if skipped_resources:
        sys.stderr.write(
            f"note: {path}: skipped (no ACLs): {first_names_text(skipped_resources)}\n"
        )
    return (LocatedAcl(acl, path, line) for acl, line in acls_with_lines)


def _has_only_comments(text: str) -> bool:
    lines = filter(None, map(str.strip, text.splitlines()))
    return all(line.startswith(("#", "//", "---", "...")) for line in lines)
