"""Clients of brokers that the control API creates, and processes that create them."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from tests.shim.control.plain_http import Http
from tests.support.commands import SHIM

Create = Callable[..., Any]
"""Calls POST /brokers with these keys; returns the row of the new broker."""


def client(row: Any, user: str | None = None, password: str = "", **more: Any) -> dict[str, Any]:
    """Return the configuration of a client of that broker."""
    servers = row["bootstrap_servers"]
    if user is None:
        return {"bootstrap.servers": servers["PLAINTEXT"], "log_level": 0, **more}
    return {
        "bootstrap.servers": servers["SASL_PLAINTEXT"],
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": password,
        "log_level": 0,
        **more,
    }


def produce(config: dict[str, Any], topic: str = "orders") -> str | None:
    outcome: list[Any] = []
    producer = Producer({"linger.ms": 0, **config})
    producer.produce(topic, b"1", on_delivery=lambda error, _: outcome.append(error))
    assert producer.flush(20) == 0
    return None if outcome[0] is None else str(outcome[0].name())


class Serving:
    """A process of `kafka-shim serve` with the options of a test."""

    def __init__(self, folder: Path, *words: str, limit: int | None = None) -> None:
        serve = [*SHIM, "serve"]
        serve += ["--listener", "PLAINTEXT://127.0.0.1:0", *words]
        limited = [] if limit is None else ["prlimit", f"--nofile={limit}"]
        self._ready = folder / "ready"
        self._child = subprocess.Popen(
            [*limited, *serve, "--stop-with-stdin"],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __enter__(self) -> Http:
        assert self._child.stdout is not None
        assert any("[KafkaServer" in line for line in self._child.stdout)
        lines = dict(line.split("=", 1) for line in self._ready.read_text().splitlines())
        return Http(f"http://{lines['CONTROL']}")

    def __exit__(self, *_: object) -> None:
        self._child.communicate(timeout=20)
        assert self._child.returncode == 0
