"""All cases: each module has a subject, and its cases in `CASES`."""

from importlib import import_module

from kafka_shim.conformance.case import Case

FAMILIES = (
    "denials",
    "revoked",
    "acl_kips",
    "operation_kips",
    "idempotence",
    "transaction_results",
    "consumer_positions",
    "kept_state",
    "versions",
    "strange_responses",
    "large",
    "logins",
    "signed_tokens",
    "tokens",
    "listeners",
    "false_brokers",
    "trouble",
    "moves",
    "hints",
    "fences",
    "refusals",
    "broken_responses",
)


def all_cases() -> list[Case]:
    """Return every case, grouped by family."""
    found: list[Case] = []
    for family in FAMILIES:
        found += import_module(f"{__name__}.{family}").CASES
    return found
