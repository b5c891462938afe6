"""Drives the kcat command, one process for each call."""

import json
import subprocess
from typing import Any

from json_lines import CallError, Login, serve

DEADLINE_SECONDS = 20
CODES = {"Broker: Topic authorization failed": 29, "Broker: Group authorization failed": 30}
"""Error codes by the text that librdkafka prints."""


def options(servers: str, login: Login | None) -> list[str]:
    found = {"bootstrap.servers": servers, "message.timeout.ms": str(DEADLINE_SECONDS * 1000)}
    if login is not None:
        found["security.protocol"] = login.protocol
        if login.mechanism:
            found |= {
                "sasl.mechanism": login.mechanism,
                "sasl.username": login.username,
                "sasl.password": login.password,
            }
        else:
            found |= {
                "ssl.ca.location": login.authority,
                "ssl.certificate.location": login.identity,
                "ssl.key.location": login.identity,
            }
    return [word for key, value in found.items() for word in ("-X", f"{key}={value}")]


def produce(
    servers: str, login: Login | None, topic: str, values: list[str], idempotent: bool | None
) -> list[int]:
    """Produce, then consume the values to find their offsets, which kcat does not report."""
    more = [] if idempotent is None else ["-X", f"enable.idempotence={str(idempotent).lower()}"]
    _run(["-P", "-t", topic, *options(servers, login), *more], "\n".join(values))
    last = ["-C", "-t", topic, "-o", str(-len(values)), "-e", "-J"]
    told = _run([*last, *options(servers, login)])
    return [json.loads(line)["offset"] for line in told.splitlines()]


def consume(
    servers: str, login: Login | None, topic: str, group: str, count: int, seconds: float
) -> list[str]:
    more = ["-X", "auto.offset.reset=earliest", "-c", str(count)]
    return _run(["-G", group, *options(servers, login), *more, topic], seconds=seconds).splitlines()


def _run(words: list[str], given: str = "", seconds: float = DEADLINE_SECONDS) -> str:
    try:
        done = subprocess.run(
            ["kcat", *words],
            input=given, capture_output=True, text=True, timeout=seconds, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise CallError(None, "TimeoutExpired", str(error)) from error
    if done.returncode != 0:
        said = [code for text, code in CODES.items() if text in done.stderr]
        raise CallError(said[0] if said else None, "kcat", done.stderr)
    return done.stdout


def _call_error(error: Exception) -> CallError:
    return CallError(None, type(error).__name__, str(error))


if __name__ == "__main__":
    calls: dict[str, Any] = {"produce": produce, "consume": consume}
    serve(calls, _call_error)
