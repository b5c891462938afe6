"""Write names.py, the names that type checkers know: APIs, errors and operations.

`python -m kafka_shim.testing.generate_names`
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kafka_shim.authorizer.acl_names import camel_case
from kafka_shim.protocol.api_key import ApiKey
from kafka_shim.protocol.enums import ApiKey as NamedApiKey, Operation, PatternType, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

FILE: Final = Path(__file__).parent / "names.py"
NOT_IN_ACLS: Final = ("UNKNOWN", "ANY", "MATCH")
HEAD: Final = '''\
"""Names for type checkers. Generated from the protocol: do not edit."""

from typing import Literal, TypeAlias
'''


def names_source() -> str:
    """Return the source of names.py."""
    operations = [each for each in Operation if each.name not in NOT_IN_ACLS]
    types = [each for each in ResourceType if each.name not in NOT_IN_ACLS]
    patterns = [each.name for each in PatternType if each.name not in NOT_IN_ACLS]
    return HEAD + "".join(
        (
            _alias("ApiName", (NamedApiKey(key).wire_name for key in ApiKey)),
            _alias("ErrorName", (code.name for code in ErrorCode)),
            _alias("OperationName", _spellings(operations)),
            _alias("ResourceTypeName", _spellings(types)),
            _alias("PatternName", [*map(str.lower, patterns), *patterns]),
        )
    )


def _spellings(members: Iterable[Operation] | Iterable[ResourceType]) -> list[str]:
    """Return names as kafka-acls writes them, and in capitals."""
    return list(dict.fromkeys([name for m in members for name in (camel_case(m), m.name)]))


def _alias(name: str, words: Iterable[str]) -> str:
    lines = "".join(f'    "{word}",\n' for word in words)
    return f"\n{name}: TypeAlias = Literal[\n{lines}]\n"


if __name__ == "__main__":
    FILE.write_text(names_source(), encoding="utf-8")
