"""What the control API tells of requests and decisions that were seen."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from shim.control.problem import ControlError
from shim.history import History, Seen

_ROWS_MAX = 1000


class SeenRequests:
    """The history of a broker, by a query's filters."""

    def __init__(self, history: History) -> None:
        self._history = history

    def requests(self, query: Mapping[str, str]) -> dict[str, Any]:
        rows, last = self._rows(query, lambda seen: [seen.row()])
        return {"requests": rows, "last": last}

    def decisions(self, query: Mapping[str, str]) -> dict[str, Any]:
        wanted: dict[str, object] = {
            name: query[name].upper() for name in ("operation", "resource_type") if name in query
        }
        if "resource_name" in query:
            wanted["resource_name"] = query["resource_name"]
        for name in ("allowed", "logged"):
            if name in query:
                wanted[name] = _flag(name, query[name])

        def matching(seen: Seen) -> list[dict[str, Any]]:
            return [
                row
                for row in seen.decisions()
                if all(row[name] == value for name, value in wanted.items())
            ]

        rows, last = self._rows(query, matching)
        return {"decisions": rows, "last": last}

    def _rows(
        self, query: Mapping[str, str], rows_of: Callable[[Seen], list[dict[str, Any]]]
    ) -> tuple[list[dict[str, Any]], int]:
        """Rows of whole requests, about as many as the limit says, and where to go on."""
        limit = _number("limit", query.get("limit", str(_ROWS_MAX)))
        rows: list[dict[str, Any]] = []
        before = _number("after", query.get("after", "0"))
        for seen in self._seen(query) if limit else ():
            if len(rows) >= limit:
                return rows, before
            rows += rows_of(seen)
            before = seen.number
        return rows, self._history.last_number

    def _seen(self, query: Mapping[str, str]) -> Iterator[Seen]:
        """The requests that the query is about, oldest first."""
        api, principal, client_id = (query.get(n) for n in ("api", "principal", "client_id"))
        after = _number("after", query.get("after", "0"))
        for seen in self._history:
            if (
                seen.number > after
                and (api is None or seen.api.wire_name.lower() == api.lower())
                and principal in (None, seen.principal)
                and client_id in (None, seen.client_id)
            ):
                yield seen


def _number(name: str, text: str) -> int:
    return int(text) if text.isdigit() else _wrong(name, text, "a number from 0")


def _flag(name: str, text: str) -> bool:
    if text not in ("true", "false"):
        _wrong(name, text, "true or false")
    return text == "true"


def _wrong(name: str, text: str, wanted: str) -> NoReturn:
    raise ControlError(400, f"{name} is `{text}`; it must be {wanted}")
