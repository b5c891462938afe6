"""Warnings about what a test has set up without effect: ACLs, users and faults."""

import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

_PACKAGE = str(Path(__file__).resolve().parents[1])


class SetupWarning(UserWarning):
    """Something that a test has set up has no effect, such as a fault that never fired."""


class UnmetFaultError(AssertionError):
    """A fault with `must_fire=True` never fired."""


def warn_at_caller(messages: Iterable[str]) -> None:
    """Warn at the line of the test, the first frame outside of this package."""
    for message in messages:
        warnings.warn(message, SetupWarning, stacklevel=_outside_stack_level())


def warn_about_acls_of_file(
    path: str | os.PathLike[str], release: str | None, super_users: Iterable[str]
) -> None:
    """Warn about ACLs of a file that have no effect; the message has the line in the file.

    An invalid file and an unknown release are left to the broker, which rejects them.
    """
    from kafka_shim.policy.checked_accesses import ineffective_acl_messages  # noqa: PLC0415 - only for ACLs
    from kafka_shim.protocol.api_versions import RELEASES  # noqa: PLC0415 - as above
    from kafka_shim.shim.errors import ConfigError  # noqa: PLC0415 - as above
    from kafka_shim.shim.settings.input_files import read_acl_file_with_lines  # noqa: PLC0415 - as above

    try:
        acls_with_lines = read_acl_file_with_lines(str(path))
    except ConfigError:
        return
    known = release if release in RELEASES else RELEASES[-1]
    messages = ineffective_acl_messages(acls_with_lines, known, frozenset(super_users))
    warn_at_caller(f"{path}, line {line}: {message}" for line, message in messages)


def _outside_stack_level() -> int:
    """Return the stack level, counted from the calling function, of the first frame outside."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    return level
