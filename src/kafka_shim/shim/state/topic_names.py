"""Which names a topic can have (Kafka's Topic class). Texts are ours, the rules Kafka's."""

import re

METADATA_LOG = "__cluster_metadata"
"""The log of the controllers, which is not a topic."""

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")
NAME_LENGTH_MAX = 249


def name_error(name: str) -> str | None:
    """Return why `name` is not a valid topic name; None if it is."""
    if not name:
        return "topic name is empty"
    if name in (".", ".."):
        return f"topic name `{name}` is reserved"
    if len(name) > NAME_LENGTH_MAX:
        return f"topic name is longer than {NAME_LENGTH_MAX} characters"
    if _LEGAL.fullmatch(name) is None:
        return f"topic name `{name}` has characters other than ASCII letters, digits, `.`, `_`, `-`"
    return None


def name_in_metrics(name: str) -> str:
    """Return the name in metrics; topics that differ only in `.` and `_` cannot coexist."""
    return name.replace(".", "_")
