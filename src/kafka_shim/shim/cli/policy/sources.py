"""Read ACLs from files and folders, with their places; all errors are reported together."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from kafka_shim.authorizer.acl_formats import passed_over, read_placed, recognise
from kafka_shim.authorizer.acl_formats.kafka_list import ends_early
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.acl_releases import rules_of
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.policy.lint import LocatedAcl
from kafka_shim.authorizer.validate import check_acl
from kafka_shim.shim.cli.policy.folders import File, files_with_acls, listed
from kafka_shim.shim.cli.policy.input_error import InputError, placed, text_of_file
from kafka_shim.shim.cli.policy.words import acl_words

_NEVER_EMPTY = ("list", "terraform", "terraform-confluent")
"""Forms that do not say that there are no ACLs."""


def read_files(paths: Sequence[str], release: str) -> list[Acl]:
    """Return the ACLs without duplicates; InputError also for ACLs that the release rejects."""
    return list(dict.fromkeys(each.acl for each in accepted_in(paths, release)))


def accepted_in(paths: Sequence[str], release: str) -> list[LocatedAcl]:
    """Return the ACLs with their places; InputError also for ACLs that the release rejects."""
    found = written_in(paths)
    rules = rules_of(release)
    refusals = [
        f"{placed(each.path, each.line)}: Kafka {release} refuses {acl_words(each.acl)}:"
        f" {refusal.message}"
        for each in found
        if (refusal := check_acl(each.acl, rules)) is not None
    ]
    if refusals:
        raise InputError(*refusals)
    return found


def written_in(paths: Sequence[str]) -> list[LocatedAcl]:
    """Return the ACLs with their places, also those that a release would reject."""
    found: list[LocatedAcl] = []
    messages: list[str] = []
    for path in paths:
        try:
            for file in _files(path):
                try:
                    found += _written(file)
                except InputError as error:
                    messages += error.messages
        except InputError as error:
            messages += error.messages
    if messages:
        raise InputError(*messages)
    return found


def _files(path: str) -> Sequence[File]:
    return files_with_acls(Path(path)) if Path(path).is_dir() else [File(path, text_of_file(path))]


def _written(file: File) -> Iterator[LocatedAcl]:
    path, text = file.path, file.text
    if not text.strip():
        raise InputError(f"{path}: the file is empty; `acls: []` says that there are no ACLs")
    form = recognise(text, path)
    try:
        found = read_placed(text, form)
    except AclTextError as error:
        raise InputError(
            *(f"{placed(path, each.line)}: {each.said}" for each in (error, *error.others))
        ) from error
    if form == "list" and ends_early(text):
        raise InputError(f"{path}: the list ends after a heading, without the ACLs below it")
    if not found and (form in _NEVER_EMPTY or _is_comment(text)):
        raise InputError(f"{path}: there are no ACLs in it; `acls: []` says that there are none")
    others = passed_over(text, form)
    if others:
        sys.stderr.write(f"note: {path}: skipped (no ACLs): {listed(others)}\n")
    return (LocatedAcl(acl, path, line) for acl, line in found)


def _is_comment(text: str) -> bool:
    lines = filter(None, map(str.strip, text.splitlines()))
    return all(line.startswith(("#", "//", "---", "...")) for line in lines)
