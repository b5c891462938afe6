"""Differences between a real broker and the shim that are meant; see docs/deviations.md."""

from typing import Any, Final

from protocol.enums import ApiKey
from tests.conformance.peer import WAITS
from tests.conformance.scenario import Step

NEVER_ANSWERED: Final = frozenset(
    key.wire_name
    for key in (
        ApiKey.PRODUCE,
        ApiKey.ALTER_CONFIGS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
    )
)
"""APIs of which real brokers leave some requests without an answer."""


def is_meant(step: Step, wanted: Any, got: Any) -> bool:
    return bool(step.api in NEVER_ANSWERED and wanted == WAITS and got != WAITS)
