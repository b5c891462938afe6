"""A trace's entries as lines of text, made of the rows of `trace_rows`."""

import json
from datetime import UTC, datetime
from typing import Any

from kafka_shim.policy.formats.trace_rule import readable_rule
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.text.message_text import escaped

MESSAGE_CHARACTERS = 160
"""So much of a message is shown; all of it is in the row."""

_ARROWS = {"request": "->", "response": "<-"}


def row_as_text_line(row: dict[str, Any]) -> str:
    """Return time (UTC), `connection/sequence`, principal, and `->` a
    request or `<-` a response.
    """
    time = datetime.fromtimestamp(row["time_us"] / 1_000_000, UTC).isoformat(
        " ", timespec="milliseconds"
    )
    request_position = f"{row['connection']}/{row['sequence']}"
    principal, text = map(escaped, (row["principal"], _entry_text(row)))
    return f"{time[:23]}  {request_position:>7}  {principal}  {text}"


def _entry_text(row: dict[str, Any]) -> str:
    kind = row["entry"]
    if kind == "closed":
        return f"closed: {row['reason']}" if row["reason"] else "closed"
    api = f"{row['api']} v{row['version']}"
    if kind == "access":
        outcome = "allowed" if row["allowed"] else "denied"
        resource = f"{row['resource_type']}:{row['resource_name']}"
        times = f" x{row['count']}" if row["count"] > 1 else ""
        rule = readable_rule(row["rule"])
        return f"{outcome} {row['operation']} {resource}{times} for {api} by {rule}"
    return f"{_ARROWS[kind]} {api} {_errors_text(row)}{_message_text(row, kind)}"


def _errors_text(row: dict[str, Any]) -> str:
    return "".join(f"{error_name_with_code(code)} " for code in row.get("error_codes", ()))


def _message_text(row: dict[str, Any], kind: str) -> str:
    if "undecoded" in row:
        return f"cannot be decoded: {row['undecoded']}"
    text = json.dumps(row[kind])
    return text if len(text) <= MESSAGE_CHARACTERS else f"{text[:MESSAGE_CHARACTERS]}..."
