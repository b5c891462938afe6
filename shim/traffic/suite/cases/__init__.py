"""All cases: modules by what they are about, each with `CASES`."""

from importlib import import_module

from kafka_shim.shim.traffic.suite.case import Case

FAMILIES = (
    "denials",
    "revoked",
    "acl_kips",
    "operation_kips",
    "idempotence",
    "versions",
    "strange_answers",
    "large",
    "logins",
    "tokens",
    "listeners",
    "trouble",
    "moves",
    "hints",
    "fences",
    "refusals",
    "broken_answers",
)


def all_cases() -> list[Case]:
    """Every case, in the order of the families."""
    found: list[Case] = []
    for family in FAMILIES:
        found += import_module(f"{__name__}.{family}").CASES
    return found
