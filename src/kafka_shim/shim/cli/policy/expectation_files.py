"""Expectations from YAML and TOML files, with their line numbers."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_formats.documents import check_keys_are_known, load_document
from kafka_shim.authorizer.acl_formats.fields import ErrorCollector
from kafka_shim.authorizer.acl_formats.values_with_lines import ListWithLines
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import is_principal
from kafka_shim.authorizer.policy.expectation import (
    Expectation,
    parse_expectation,
    parse_string_or_strings,
)
from kafka_shim.protocol.api_versions import parse_minor_release
from kafka_shim.shim.cli.policy.expectation_exceptions import (
    ExpectationException,
    split_exception,
)
from kafka_shim.shim.cli.policy.expectation_variables import expand_entry
from kafka_shim.shim.cli.policy.input_error import InputError, file_and_line, read_text_without_bom

_KEYS = ("expect", "acls", "release", "super-users")
_TABLE = re.compile(r"^[ \t]*\[\[[ \t]*expect[ \t]*\]\]", re.MULTILINE)


class LocatedExpectation(msgspec.Struct, frozen=True):
    """An expectation with its path and line (0: unknown)."""

    path: str
    line: int
    expectation: Expectation
    exception: ExpectationException | None = None


class ExpectationFile(msgspec.Struct, frozen=True):
    """The content of a file: expectations, and paths of ACLs and super users if it names any."""

    expectations: tuple[LocatedExpectation, ...]
    acl_paths: tuple[str, ...]
    super_users: tuple[str, ...]


def read_expectation_file(path: str, release: str) -> ExpectationFile:
    """Read a file; InputError, with path and line, for each invalid
    expectation, or if it has none.
    """
    text = read_text_without_bom(path)
    try:
        content, lines = _parse_document_and_toml_expectation_lines(
            text, is_toml=path.endswith(".toml")
        )
        header: Mapping[str, Any] = {}
        if isinstance(content, Mapping):
            header = {str(key).replace("_", "-"): value for key, value in content.items()}
            check_keys_are_known(header, _KEYS, "the file")
            content = header.get("expect")
        if not isinstance(content, list) or not content:
            raise AclTextError("expected a list of expectations, at the top or below `expect`")
        if "release" in header:
            release = parse_minor_release(str(header["release"]))
        super_users = parse_string_or_strings(
            header.get("super-users", []), "super-users", may_be_empty=True
        )
        for principal in super_users:
            if not is_principal(principal):
                raise AclTextError(f"super-users: `{principal}`: expected Type:name")
        acls = parse_string_or_strings(header.get("acls", []), "acls", may_be_empty=True)
    except ValueError as error:
        raise _input_error_with_lines(path, error) from error
    lines = content.lines if isinstance(content, ListWithLines) else lines
    expectations = _parse_located_expectations(path, content, lines, release)
    folder = Path(path).parent
    return ExpectationFile(
        expectations, tuple(str(folder / name) for name in acls), tuple(super_users)
    )


def _parse_document_and_toml_expectation_lines(
    text: str, *, is_toml: bool
) -> tuple[Any, Sequence[int]]:
    """Return the document, and the lines of its expectations unless the document knows them."""
    if not is_toml:
        return load_document(text, with_lines=True), ()
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said, _, place = str(error).partition(" (at line ")
        line = re.match(r"\d+", place)
        raise AclTextError(f"not TOML: {said}", int(line[0]) if line else 0) from error
    except (RecursionError, ValueError) as error:  # too deep, or a number of too many digits
        raise AclTextError(f"unsupported TOML: {error}") from error
    return content, [text.count("\n", 0, found.start()) + 1 for found in _TABLE.finditer(text)]


def _parse_located_expectations(
    path: str, entries: Sequence[object], lines: Sequence[int], release: str
) -> tuple[LocatedExpectation, ...]:
    expectations: list[LocatedExpectation] = []
    mistakes = ErrorCollector()
    for number, entry in enumerate(entries):
        line = lines[number] if number < len(lines) else 0
        with mistakes.collect_errors(line):
            where = f"expectation {number + 1}"
            expectations += _located_expectations_of_entry(path, line, entry, where, release)
    try:
        mistakes.raise_collected_errors()
    except AclTextError as error:
        raise _input_error_with_lines(path, error) from error
    return tuple(expectations)


def _located_expectations_of_entry(
    path: str, line: int, entry: object, where: str, release: str
) -> list[LocatedExpectation]:
    """Return the expectations that an entry with variables stands for."""
    try:
        parts = [split_exception(each) for each in expand_entry(entry, Path(path).parent)]
    except AclTextError as error:
        raise AclTextError(f"{where}: {error.message}", error.line) from error
    return [
        LocatedExpectation(path, line, parse_expectation(each, where, release), exception)
        for each, exception in parts
    ]


def _input_error_with_lines(path: str, error: ValueError) -> InputError:
    if not isinstance(error, AclTextError):
        return InputError(f"{path}: {error}")
    return InputError(
        *(
            f"{file_and_line(path, each.line)}: {each.message}"
            for each in (error, *error.further_errors)
        )
    )
