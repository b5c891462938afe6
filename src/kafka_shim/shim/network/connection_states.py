"""The states of a connection, and the events that lead from one to the next.

A connection handles a frame in `READY` only. Each other state has one reason not to, and one event
that ends it. So two questions have one answer each, in one place: why a connection does nothing
at present, and what makes it go on.

| state | the next frame is not handled, because | ended by |
|---|---|---|
| `NOT_ADMITTED` | the quotas have no room for it yet | `ADMITTED` |
| `READY` | | |
| `YIELDED` | other connections come first | `TURN_BEGINS` |
| `AWAITING_RESPONSE` | responses have the order of requests, and one is missing | `RESPONDED` |
| `THROTTLED` | the client is above its quota (KIP-219) | `PAUSE_OVER` |
| `AUTHENTICATION_FAILED` | it ends with a delayed error response (KIP-306) | `DELAY_OVER` |
| `CLOSED` | nothing is handled any more | |

Two facts are no states, since they hold next to any of them. Whether the peer reads its responses
is asyncio's: `pause_writing` and `resume_writing`. Whether handlers of this connection are on the
stack guards against their repeated call, as a request can be completed while it is handled.

Two events end nothing by themselves:

- A pause can begin and end while a response is awaited, as handling a request takes of the quota.
  If it still runs when the response is sent, the connection is throttled then. So `PAUSE_OVER`
  changes nothing in `AWAITING_RESPONSE`.
- Between the report of a failed authentication and the end of its delay, anything that was begun
  may end, and changes nothing.

What is missing in the table cannot happen; `next_state` raises KeyError. After `CLOSED`, timers and
responses may still arrive, so that state has every event.
"""

from enum import Enum
from typing import Final


class ConnectionState(Enum):
    """Whether a connection handles its next frame, and why not."""

    NOT_ADMITTED = "not admitted"
    READY = "ready"
    YIELDED = "yielded"
    AWAITING_RESPONSE = "awaiting response"
    THROTTLED = "throttled"
    AUTHENTICATION_FAILED = "authentication failed"
    CLOSED = "closed"


class ConnectionEvent(Enum):
    """Events that can change whether a connection handles its next frame."""

    ADMITTED = "admitted"
    """The quotas have room for the connection."""
    YIELDS = "yields"
    """Frames are left, and other connections come first."""
    TURN_BEGINS = "turn begins"
    REQUEST_WAITS = "request waits"
    """A request is not responded to immediately."""
    RESPONDED = "responded"
    """The response that was awaited is complete."""
    PAUSE_BEGINS = "pause begins"
    """A response told the client to pause, and its pause is enforced."""
    PAUSE_OVER = "pause over"
    AUTHENTICATION_FAILS = "authentication fails"
    DELAY_OVER = "delay over"
    """A failed authentication is reported now."""
    CLOSED = "closed"
    """The broker closes the connection, or it was lost."""


_S, _E = ConnectionState, ConnectionEvent

TRANSITIONS: Final[dict[ConnectionState, dict[ConnectionEvent, ConnectionState]]] = {
    _S.NOT_ADMITTED: {
        _E.ADMITTED: _S.READY,
        _E.CLOSED: _S.CLOSED,
    },
    _S.READY: {
        _E.YIELDS: _S.YIELDED,
        _E.REQUEST_WAITS: _S.AWAITING_RESPONSE,
        _E.PAUSE_BEGINS: _S.THROTTLED,
        _E.AUTHENTICATION_FAILS: _S.AUTHENTICATION_FAILED,
        _E.CLOSED: _S.CLOSED,
    },
    _S.YIELDED: {
        _E.TURN_BEGINS: _S.READY,
        _E.CLOSED: _S.CLOSED,
    },
    _S.AWAITING_RESPONSE: {
        _E.RESPONDED: _S.READY,
        _E.PAUSE_BEGINS: _S.AWAITING_RESPONSE,
        _E.PAUSE_OVER: _S.AWAITING_RESPONSE,
        _E.AUTHENTICATION_FAILS: _S.AUTHENTICATION_FAILED,
        _E.CLOSED: _S.CLOSED,
    },
    _S.THROTTLED: {
        _E.PAUSE_BEGINS: _S.THROTTLED,
        _E.PAUSE_OVER: _S.READY,
        _E.AUTHENTICATION_FAILS: _S.AUTHENTICATION_FAILED,
        _E.CLOSED: _S.CLOSED,
    },
    _S.AUTHENTICATION_FAILED: {
        _E.DELAY_OVER: _S.READY,
        _E.RESPONDED: _S.AUTHENTICATION_FAILED,
        _E.PAUSE_BEGINS: _S.AUTHENTICATION_FAILED,
        _E.PAUSE_OVER: _S.AUTHENTICATION_FAILED,
        _E.CLOSED: _S.CLOSED,
    },
    _S.CLOSED: dict.fromkeys(_E, _S.CLOSED),
}


def next_state(state: ConnectionState, event: ConnectionEvent) -> ConnectionState:
    """Return the state after an event. Raise KeyError if the event cannot happen in the state."""
    return TRANSITIONS[state][event]
