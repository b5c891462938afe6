"""Exceptions of expectations: who answers for it, why, and until when."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats.documents import check_keys_are_known
from kafka_shim.policy.formats.values_with_lines import (
    MappingWithLines,
    line_of_mapping,
)

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
