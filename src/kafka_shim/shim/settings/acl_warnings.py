"""Warn about ACLs of files that can neither allow nor deny anything."""

from collections.abc import Iterable

from kafka_shim.policy.checked_accesses import ineffective_acl_messages
from kafka_shim.policy.formats.fields import AclWithLine
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.text.message_text import print_note

_WARNINGS_MAX = 20
"""Further warnings are counted only."""


def warn_about_ineffective_acls(
    acls_with_lines: Iterable[AclWithLine], file: str, release: str | None
) -> None:
    """Print a warning with file and line for each ACL whose operation brokers never check.

    An unknown release is reported elsewhere; None is the newest.
    """
    known = release if release in RELEASES else RELEASES[-1]
    messages = list(ineffective_acl_messages(acls_with_lines, known))
    for line, message in messages[:_WARNINGS_MAX]:
        print_note(f"{file}{f', line {line}' if line else ''}: {message}")
    if len(messages) > _WARNINGS_MAX:
        print_note(f"{file}: {len(messages) - _WARNINGS_MAX} further ACLs have no effect")
