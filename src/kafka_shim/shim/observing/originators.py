"""Who changes the state: clients, callers of the control API, or the broker itself."""

from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from kafka_shim.shim.observing.request_history import HistoryEntry


class RequestOfClient(NamedTuple):
    """A client's request, with its number in the history."""

    number: int
    principal: str
    client_id: str | None


class CallOfControlApi(NamedTuple):
    """A call of the control API."""

    number: int
    is_from_inspector: bool


Originator: TypeAlias = RequestOfClient | CallOfControlApi | None
"""Who changed something; None: the broker itself, such as a timer."""

CURRENT_ORIGINATOR: "ContextVar[HistoryEntry | CallOfControlApi | None]" = ContextVar(
    "originator", default=None
)
"""The request or call that is being handled."""
