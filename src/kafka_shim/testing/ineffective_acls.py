"""Warnings about ACLs of tests that can neither allow nor deny anything."""

import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_PACKAGE = str(Path(__file__).resolve().parents[1])


class IneffectiveAclWarning(UserWarning):
    """An ACL whose operation brokers never check on its resource type: it has no effect."""


def warn_about_ineffective_rules(rules: Sequence[Mapping[str, Any]], release: str | None) -> None:
    """Warn at the caller's line about rules without effect; None is the newest release.

    Invalid rules and an unknown release are left to the broker, which rejects them.
    """
    if not rules:
        return
    from kafka_shim.authorizer.acl_names import AclTextError  # noqa: PLC0415 - as above
    from kafka_shim.policy.formats.yaml_rules import parse_located_acls  # noqa: PLC0415 - only for ACLs

    try:
        acls_with_lines = parse_located_acls(list(rules))
    except AclTextError:
        return
    _warn_about_ineffective_acls(acls_with_lines, release)


def warn_about_ineffective_acls_of_file(path: str | os.PathLike[str], release: str | None) -> None:
    """Warn at the caller's line about ACLs of a file; the message has the line in the file."""
    from kafka_shim.shim.errors import ConfigError  # noqa: PLC0415 - only for ACLs
    from kafka_shim.shim.settings.input_files import read_acl_file_with_lines  # noqa: PLC0415 - as above

    try:
        acls_with_lines = read_acl_file_with_lines(str(path))
    except ConfigError:
        return
    _warn_about_ineffective_acls(acls_with_lines, release, str(path))


def _warn_about_ineffective_acls(
    acls_with_lines: Sequence[Any], release: str | None, file: str = ""
) -> None:
    from kafka_shim.policy.checked_accesses import ineffective_acl_messages  # noqa: PLC0415 - only for ACLs
    from kafka_shim.protocol.api_versions import RELEASES  # noqa: PLC0415 - as above

    known = release if release in RELEASES else RELEASES[-1]
    for line, message in ineffective_acl_messages(acls_with_lines, known):
        place = f"{file}, line {line}: " if file else ""
        warnings.warn(place + message, IneffectiveAclWarning, stacklevel=_callers_stack_level())


def _callers_stack_level() -> int:
    """Return the stack level, counted from the calling function, of the first frame outside."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    return level
