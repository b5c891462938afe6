"""Puts the file and line before errors that are found after the files were read."""

import argparse

from kafka_shim.shim.errors import ConfigError, InitialStateError


def error_text_with_location(args: argparse.Namespace, error: ConfigError) -> str:
    """Return the text of an error, with the file and line that it is about, if it is about one."""
    if isinstance(error, InitialStateError):
        return f"{_location_prefix(args, error.key_path)}{error}"
    locations = getattr(args, "setting_locations", None)
    return str(error) if locations is None else str(locations.add_location(str(error)))


def _location_prefix(args: argparse.Namespace, key_path: tuple[object, ...]) -> str:
    """Return `--state FILE: line N: ` or the like; nothing for an object of the command line.

    Files are read again: the error is rare, and objects do not know their lines.
    """
    if args.state is not None:
        from kafka_shim.shim.settings.state_file import line_of_object_in_state_file

        line = line_of_object_in_state_file(args.state, key_path)
        if line:
            return f"--state {args.state}: line {line}: "
    if key_path[0] == "acls" and args.acls not in (None, "-"):
        from kafka_shim.shim.settings.input_files import read_acl_file_with_lines

        for acl, line in read_acl_file_with_lines(args.acls):
            if acl == key_path[1]:
                return f"--acls {args.acls}: line {line}: "
    return ""
