"""What a program of the atlas is: commands of a user, with what their output must contain."""

from collections.abc import Mapping

import msgspec

TOPIC, NEW_TOPIC, GROUP, TRANSACTION = "orders", "invoices", "billing", "billing-tx"
SHARE_GROUP = "billing-share"
"""A share group that reads from the beginning."""
RECORDS = 5
"""How many records the topic has before the program starts."""
USER, PASSWORD = "alice", "alice-secret"
ADMIN, ADMIN_PASSWORD = "admin", "admin-secret"


class Step(msgspec.Struct, frozen=True):
    """A command; `{bootstrap}`, `{settings}`, `{folder}` and so on are replaced: see `run_program`.

    `expected` is a regular expression that the output must match: many tools end with 0 although
    they were denied everything.
    """

    argv: tuple[str, ...]
    expected: str = ""
    stdin: str = ""
    is_service: bool = False
    """The command never ends: it is stopped once its output matches, and the topic has records."""
    expected_topic: str = ""
    expected_records: int = 0
    """How many records this topic has after the command."""


class Program(msgspec.Struct, frozen=True):
    """A program in a version, and what it does with the topic, the group and so on."""

    name: str
    version: str
    does: str
    steps: tuple[Step, ...]
    needs_lists: bool = False
    """Its output is right only with access that makes responses longer, such as listed topics."""
    prefixes: tuple[str, ...] = ()
    """What names begin with that differ in each run; they get prefixed ACLs."""
    files: Mapping[str, str] = {}
    """Files in `{folder}`, with the same replacements."""
    topics: tuple[str, ...] = (TOPIC,)
    """Topics with records that exist before the program starts."""
