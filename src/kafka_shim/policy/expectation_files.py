"""Expectations from YAML and TOML files, with their line numbers, variables and exceptions.

With variables, one entry stands for an expectation per team, topic or user.

- for: {team: teams.txt}
  nobody-but: ["User:{team}-app"]
  may: Write
  topic: "{team}-*"
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import is_principal
from kafka_shim.policy.expectation import (
    Expectation,
    parse_expectation,
    parse_strings,
)
from kafka_shim.policy.formats.documents import (
    ListWithLines,
    MappingWithLines,
    check_keys_are_known,
    line_of_key,
    line_of_mapping,
    load_document,
)
from kafka_shim.policy.formats.fields import ErrorCollector, add_line_to_errors
from kafka_shim.policy.formats.toml_documents import lines_of_toml_key, load_toml
from kafka_shim.protocol.api_versions import parse_minor_release
from kafka_shim.text.input_files import InputError, place_text, read_text_without_bom

VARIABLES_KEY = "for"
EXPANDED_MAX = 100_000
"""Expectations that one entry may stand for."""


def expand_entry(entry: object, folder: Path) -> list[object]:
    """Return the entry once for each combination of its variables' values.

    A variable has a list of values, or the name of a file with one value per line, relative to
    `folder`. Raise AclTextError for variables that are invalid or not used.
    """
    if not isinstance(entry, Mapping) or VARIABLES_KEY not in entry:
        return [entry]
    variables = entry[VARIABLES_KEY]
    if not isinstance(variables, Mapping) or not variables:
        raise AclTextError("`for` needs variables with values, such as `for: {team: [a, b]}`")
    values = {
        str(name): _values_of_variable(str(name), value, folder)
        for name, value in variables.items()
    }
    unused = [name for name in values if f"{{{name}}}" not in str(entry)]
    if unused:
        raise AclTextError(f"the variable `{unused[0]}` is not used; write {{{unused[0]}}}")
    total = 1
    for each in values.values():
        total *= len(each)
    if total > EXPANDED_MAX:
        raise AclTextError(f"`for` stands for {total} expectations, more than {EXPANDED_MAX}")
    return [
        _fill_variables(entry, dict(zip(values, combination, strict=True)))
        for combination in product(*values.values())
    ]


def _values_of_variable(name: str, value: object, folder: Path) -> Sequence[str]:
    if not isinstance(value, str):
        return parse_strings(value, f"for: {name}")
    try:
        lines = (folder / value).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise AclTextError(f"for: {name}: cannot read `{value}`: {error}") from error
    values = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not values:
        raise AclTextError(f"for: {name}: `{value}` has no values")
    return values


def _fill_variables(entry: Mapping[Any, Any], values: Mapping[str, str]) -> MappingWithLines:
    replaced = MappingWithLines(
        {
            key: _fill_placeholders(value, values)
            for key, value in entry.items()
            if key != VARIABLES_KEY
        }
    )
    replaced.line = entry.line if isinstance(entry, MappingWithLines) else 0
    replaced.lines = entry.lines if isinstance(entry, MappingWithLines) else {}
    return replaced


def _fill_placeholders(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for name, text in values.items():
            value = value.replace(f"{{{name}}}", text)
        return value
    if isinstance(value, list):
        return [_fill_placeholders(each, values) for each in value]
    if isinstance(value, Mapping):
        return {
            _fill_placeholders(key, values): _fill_placeholders(each, values)
            for key, each in value.items()
        }
    return value


EXCEPTION_KEY = "exception"
_KEYS = ("owner", "reason", "until")


class ExpectationException(msgspec.Struct, frozen=True):
    """An expectation may fail until the end of a day."""

    owner: str
    reason: str
    until: date

    def has_expired(self, today: date) -> bool:
        return today > self.until

    @property
    def text(self) -> str:
        return f"until {self.until.isoformat()}, {self.owner}: {self.reason}"


def split_exception(entry: object) -> tuple[object, ExpectationException | None]:
    """Return the entry without its exception, and the exception. Raise AclTextError if invalid."""
    if not isinstance(entry, Mapping) or EXCEPTION_KEY not in entry:
        return entry, None
    exception = entry[EXCEPTION_KEY]
    rest = MappingWithLines({key: each for key, each in entry.items() if key != EXCEPTION_KEY})
    rest.line = line_of_mapping(entry)
    rest.lines = entry.lines if isinstance(entry, MappingWithLines) else {}
    return rest, _parse_exception(exception)


def _parse_exception(exception: object) -> ExpectationException:
    if not isinstance(exception, Mapping):
        raise AclTextError("`exception` needs owner, reason and until")
    fields: Mapping[Any, Any] = exception
    check_keys_are_known(fields, _KEYS, EXCEPTION_KEY)
    owner, reason, until = (fields.get(key) for key in _KEYS)
    if not isinstance(owner, str) or not isinstance(reason, str) or not (owner and reason):
        raise AclTextError("`exception` needs an owner and a reason")
    if not isinstance(until, date):
        try:
            until = date.fromisoformat(str(until))
        except ValueError as error:
            raise AclTextError(
                f"exception: until `{until}`: expected a day such as 2027-01-31"
            ) from error
    return ExpectationException(owner, reason, until)


KEYS = ("expect", "include", "acls", "release", "super-users")


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


def read_expectation_files(paths: Sequence[str], release: str) -> list[ExpectationFile]:
    """Read files and those that they include. Raise one InputError for all invalid expectations."""
    files: list[ExpectationFile] = []
    messages: list[str] = []
    for path in paths:
        try:
            files.append(_read_included(path, release, ()))
        except InputError as error:
            messages += error.messages
    if messages:
        raise InputError(*messages)
    return files


def _read_included(path: str, release: str, included_by: Sequence[Path]) -> ExpectationFile:
    text = read_text_without_bom(path)
    try:
        document = _load_document(text, is_toml=path.endswith(".toml"))
        header = _parse_header(document, release)
        entries = _require_entries(document)
        folder, chain = Path(path).parent, (*included_by, Path(path).resolve())
        with add_line_to_errors(document.line_of("include")):
            _reject_include_cycle(folder, header.includes, chain)
    except AclTextError as error:
        raise _input_error_with_lines(path, error) from error
    included = _expectations_of_files(
        [str(folder / name) for name in header.includes], header.release, chain
    )
    expectations = _parse_located_expectations(
        path, entries, document.expectation_lines, header.release
    )
    return ExpectationFile(
        (*included, *expectations),
        tuple(str(folder / name) for name in header.acls),
        header.super_users,
    )


def _reject_include_cycle(folder: Path, names: Sequence[str], chain: Sequence[Path]) -> None:
    for name in names:
        if (folder / name).resolve() in chain:
            raise AclTextError(f"include: `{name}` includes this file")


def _expectations_of_files(
    paths: Sequence[str], release: str, included_by: Sequence[Path]
) -> tuple[LocatedExpectation, ...]:
    """Return the expectations of included files, whose own ACLs and super users do not count."""
    expectations: list[LocatedExpectation] = []
    messages: list[str] = []
    for path in paths:
        try:
            included = _read_included(path, release, included_by)
            expectations += included.expectations
        except InputError as error:
            messages += error.messages
    if messages:
        raise InputError(*messages)
    return tuple(expectations)


class _ExpectationDocument(msgspec.Struct, frozen=True):
    """A parsed file; `header` is empty if the file is a list of expectations.

    `expectation_lines` may be fewer than the expectations: then the last is that of all others.
    """

    expectations: object
    header: Mapping[str, Any]
    expectation_lines: Sequence[int]
    line_of: Callable[[str], int]


class _ExpectationHeader(msgspec.Struct, frozen=True):
    release: str
    includes: tuple[str, ...]
    acls: tuple[str, ...]
    super_users: tuple[str, ...]


def _load_document(text: str, *, is_toml: bool) -> _ExpectationDocument:
    content: Any = load_toml(text) if is_toml else load_document(text, with_lines=True)
    header = content if isinstance(content, Mapping) else {}
    expectations = header.get("expect") if isinstance(content, Mapping) else content

    def line_of(key: str) -> int:
        if is_toml:
            return next(iter(lines_of_toml_key(text, key)), 0)
        return line_of_key(content, key)

    if isinstance(expectations, ListWithLines):
        lines = expectations.lines
    else:
        lines = lines_of_toml_key(text, "expect") if is_toml else []
    return _ExpectationDocument(expectations, header, lines, line_of)


def _parse_header(document: _ExpectationDocument, release: str) -> _ExpectationHeader:
    """Return the settings beside the expectations. Raise AclTextError, with the line."""
    keys = {str(key).replace("_", "-"): str(key) for key in document.header}

    def parsed(name: str, parse: Callable[[Any], Any], default: Any) -> Any:
        if name not in keys:
            return default
        line = document.line_of(keys[name])
        try:
            with add_line_to_errors(line):
                return parse(document.header[keys[name]])
        except ValueError as error:
            if isinstance(error, AclTextError):
                raise
            raise AclTextError(str(error), line) from error

    unknown = ErrorCollector()
    for name, key in keys.items():
        with unknown.collect_errors(document.line_of(key)):
            check_keys_are_known([name], KEYS, "the file")
    unknown.raise_collected_errors()
    return _ExpectationHeader(
        parsed("release", lambda value: parse_minor_release(str(value)), release),
        parsed("include", partial(_parse_paths, key="include"), ()),
        parsed("acls", partial(_parse_paths, key="acls"), ()),
        parsed("super-users", _parse_super_users, ()),
    )


def _require_entries(document: _ExpectationDocument) -> Sequence[object]:
    if document.expectations is None and "include" in document.header:
        return ()
    if not isinstance(document.expectations, list) or not document.expectations:
        line = document.line_of("expect") or 1
        raise AclTextError("expected a list of expectations, at the top or below `expect`", line)
    return document.expectations


def _parse_paths(value: object, key: str) -> tuple[str, ...]:
    return tuple(parse_strings(value, key, may_be_empty=True))


def _parse_super_users(value: object) -> tuple[str, ...]:
    super_users = parse_strings(value, "super-users", may_be_empty=True)
    for principal in super_users:
        if not is_principal(principal):
            raise AclTextError(f"super-users: `{principal}`: expected Type:name")
    return tuple(super_users)


def _parse_located_expectations(
    path: str, entries: Sequence[object], lines: Sequence[int], release: str
) -> tuple[LocatedExpectation, ...]:
    expectations: list[LocatedExpectation] = []
    mistakes = ErrorCollector()
    folder = Path(path).parent
    for number, entry in enumerate(entries):
        line = lines[min(number, len(lines) - 1)] if lines else 0
        with mistakes.collect_errors(line):
            where = f"expectation {number + 1}"
            for expectation, exception in _expectations_of_entry(entry, folder, where, release):
                expectations.append(LocatedExpectation(path, line, expectation, exception))
    try:
        mistakes.raise_collected_errors()
    except AclTextError as error:
        raise _input_error_with_lines(path, error) from error
    return tuple(expectations)


def _expectations_of_entry(
    entry: object, folder: Path, where: str, release: str
) -> list[tuple[Expectation, ExpectationException | None]]:
    """Return the expectations that an entry with variables stands for, with their exceptions."""
    try:
        parts = [split_exception(each) for each in expand_entry(entry, folder)]
    except AclTextError as error:
        raise AclTextError(f"{where}: {error.message}", error.line) from error
    return [(parse_expectation(each, where, release), exception) for each, exception in parts]


def _input_error_with_lines(path: str, error: AclTextError) -> InputError:
    return InputError(
        *(
            f"{place_text(path, each.line)}: {each.message}"
            for each in (error, *error.further_errors)
        )
    )
