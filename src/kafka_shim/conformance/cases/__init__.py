"""All cases: each module has a subject, and its cases in `CASES`."""

from importlib import import_module

from kafka_shim.conformance import CLIENTS, TOOLS
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
PROFILES = {CLIENTS: FAMILIES, TOOLS: ("tools",)}
"""Modules of cases by profile."""


def all_cases(profile: str = CLIENTS) -> list[Case]:
    """Return every case of a profile, grouped by family."""
    found: list[Case] = []
    for family in PROFILES[profile]:
        found += import_module(f"{__name__}.{family}").CASES
    return found
