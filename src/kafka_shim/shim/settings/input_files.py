"""Reads ACLs and texts from files that the user names."""

from typing import Any

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats import parse_acls_with_lines
from kafka_shim.policy.formats.documents import load_document
from kafka_shim.policy.formats.fields import AclWithLine
from kafka_shim.policy.formats.kafka_list import describe_partial_list
from kafka_shim.shim.errors import ConfigError
from kafka_shim.text.input_files import read_text_file
from kafka_shim.text.message_text import print_note


def read_acl_file_with_lines(
    path: str, option: str = "--acls", acl_format: str | None = None
) -> list[AclWithLine]:
    """Return the ACLs of a file with their lines, including duplicates.

    Raise ConfigError, whose message begins with `option`, if the file is invalid.
    """
    text = read_text_file(path, option)
    try:
        acls_with_lines = parse_acls_with_lines(text, acl_format)
    except AclTextError as error:
        raise ConfigError(f"{option} {path}: {error}") from error
    if not acls_with_lines:
        print_note(f"{option} {path}: there are no ACLs in it")
    elif (lack := describe_partial_list(text)) is not None:
        print_note(f"{option} {path}: {lack}")
    return acls_with_lines


def parse_yaml_with_lines(text: str, where: str) -> Any:
    """Parse YAML or JSON with line numbers. Raise ConfigError, beginning with `where`."""
    try:
        return load_document(text, with_lines=True)
    except AclTextError as error:
        raise ConfigError(f"{where}: {error}") from error
