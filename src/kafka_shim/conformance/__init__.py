"""Conformance of clients: the suite runs a client in prepared cases, the scorecard reads traces.

`contract` defines what a driver understands (`commands`). `driver` runs the driver, the
process that uses the client. A `case_context` is a prepared cluster together with a driver, a
`case` is one check, `cases` has all of them, and `runner` runs them. `scorecard` judges a client
by a trace of its requests.
"""

from enum import Enum
from typing import Final

CLIENTS: Final = "clients"
TOOLS: Final = "tools"


class RequirementLevel(Enum):
    """How much a failure matters: MUST is an error of the client, SHOULD is a weakness."""

    MUST = "must"
    SHOULD = "should"
