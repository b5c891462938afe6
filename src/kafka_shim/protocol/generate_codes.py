"""Generates the source of api_key.py, error_codes.py and feature_levels.py, for `generate`."""

from collections.abc import Mapping, Sequence

from kafka_shim.protocol.codec.message_spec import MessageSpec, snake_case
from kafka_shim.schemas.releases import History

_API_KEY = '''"""The keys of Kafka's APIs."""

from enum import IntEnum


class ApiKey(IntEnum):
    """Request types, by the key in the request header."""

{members}
    @property
    def wire_name(self) -> str:
        """Kafka's CamelCase name: `CreateAcls`."""
        return _WIRE_NAMES[self]


_WIRE_NAMES: dict[int, str] = {{
    key: "".join(word.capitalize() for word in key.name.split("_")) for key in ApiKey
}}
'''

_ERROR_CODES = '''"""Kafka's error codes."""

from enum import IntEnum


class ErrorCode(IntEnum):
    """Error codes of the wire, with Kafka's names."""

{members}

NO_ERROR = ErrorCode.NONE
"""The member as a constant: CPython 3.11 takes as long to look up a member of an enum in its class
as to call a function, and every request needs this one.
"""
'''

_FEATURE_LEVELS = '''"""The features of brokers, and since which release they have which levels."""

FEATURES: dict[str, dict[str, tuple[int, int, int]]] = {{
{members}}}
"""Lowest and highest level, and the one at which a new cluster runs, in a broker's order."""
'''


def api_key_source(messages: Sequence[MessageSpec]) -> str:
    """Return the enum of all APIs that have a request."""
    keys = {
        snake_case(message.name.removesuffix("Request")).upper(): message.api_key
        for message in messages
        if message.type == "request"
    }
    return _API_KEY.format(members=_enum_member_lines(keys))


def error_codes_source(codes: Mapping[str, int]) -> str:
    """Return the enum of error codes."""
    return _ERROR_CODES.format(members=_enum_member_lines(codes))


def feature_levels_source(features: Mapping[str, History]) -> str:
    """Return the table of features. Raise ValueError if a release dropped one."""
    lines = []
    for name, history in features.items():
        lines.append(f'    "{name}": {{\n')
        for since, levels in history.items():
            if levels is None:
                raise ValueError(
                    f"feature `{name}` was removed in {since}, which the table cannot express"
                )
            lines.append(
                f'        "{since}": ({levels["min"]}, {levels["max"]}, {levels["level"]}),\n'
            )
        lines.append("    },\n")
    return _FEATURE_LEVELS.format(members="".join(lines))


def _enum_member_lines(codes: Mapping[str, int]) -> str:
    """Return a line for each member, in the order of codes."""
    by_code = sorted(codes.items(), key=lambda member: member[1])
    return "".join(f"    {name} = {code}\n" for name, code in by_code)
