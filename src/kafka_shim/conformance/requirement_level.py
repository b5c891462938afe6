"""How much a failed requirement matters."""

from enum import Enum


class RequirementLevel(Enum):
    """How much a failure matters: MUST is an error of the client, SHOULD is a weakness."""

    MUST = "must"
    SHOULD = "should"
