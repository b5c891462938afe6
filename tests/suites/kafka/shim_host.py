"""Starts and stops shims for Kafka's own tests, over HTTP, as RealHost.java does real brokers."""

import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.suites.kafka import java_properties, shim_features, shim_settings
from tests.suites.kafka.shim_pool import Lent, ShimPool

Response = Mapping[str, str]

RESTART_SECONDS = 1.5
"""Pause before a restart, in which clients reconnect (`reconnect.backoff.max.ms`); a real broker
takes longer to start.
"""


class ShimHost:
    """Runs one cluster at a time, which starts on first use, after all its nodes are known."""

    def __init__(self, release: str, *, is_shared: bool = False) -> None:
        self._release = release
        self._turn = threading.RLock()
        self.pool = ShimPool(is_shared=is_shared)
        self._nodes: dict[int, dict[str, str]] = {}
        self._stopped: set[int] = set()
        self._broker: Lent | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self._call))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def processor_seconds(self) -> float:
        """Return the processor time of the shims that have ended."""
        return self.pool.processor_seconds

    def close(self) -> None:
        self._end()
        self._server.shutdown()
        self._server.server_close()
        self.pool.close()

    def _call(self, command: str, given: dict[str, str]) -> Response:
        with self._turn:
            if command == "end":
                self._end()
            elif command == "settle":
                self._running()
            elif command == "start":
                self._start(_node_id(given), given)
            elif command == "stop":
                self._stop(_node_id(given))
            elif command == "ports":
                return self._ports(_node_id(given))
            elif command == "closed":
                closed = str(self._running().closed_connections())
                return {"expired": closed, "failed": closed}
            else:
                raise ValueError(f"no command {command}")
        return {}

    def _start(self, node_id: int, settings: dict[str, str]) -> None:
        if self._broker is None:
            self._nodes[node_id] = settings
            self._stopped.discard(node_id)
        elif node_id in self._stopped:
            self._broker.process.control("POST", f"/nodes/{node_id}/start")
            time.sleep(RESTART_SECONDS)
            self._stopped.discard(node_id)
        else:
            raise ValueError(f"node {node_id}: a cluster that runs gets no more nodes")

    def _stop(self, node_id: int) -> None:
        if not shim_settings.is_broker(self._nodes.get(node_id, {})):
            return
        self._stopped.add(node_id)
        if self._broker is not None:
            self._broker.process.control("POST", f"/nodes/{node_id}/stop")

    def _ports(self, node_id: int) -> Response:
        addresses = self._running().process.addresses()
        return {name: text.rpartition(":")[2] for name, text in addresses[node_id].items()}

    def _brokers(self) -> list[int]:
        return sorted(key for key, node in self._nodes.items() if shim_settings.is_broker(node))

    def _running(self) -> Lent:
        if self._broker is None:
            folder = self.pool.folder()
            words = shim_settings.words(self._nodes, self._brokers(), folder)
            self._broker = self.pool.take(["--kafka-version", self._release, *words], folder)
            process = self._broker.process
            formatted: dict[str, str] = {}
            for settings in self._nodes.values():
                formatted |= settings
            features = shim_features.lowered(formatted, self._release)
            address = process.addresses()[self._brokers()[0]]["OUTSIDE"]
            shim_features.lower(features, self._release, address)
            for node_id in self._stopped:
                process.control("POST", f"/nodes/{node_id}/stop")
        return self._broker

    def _end(self) -> None:
        with self._turn:
            broker, self._broker = self._broker, None
            self._nodes.clear()
            self._stopped.clear()
            if broker is not None:
                self.pool.give_back(broker)


def _node_id(given: Mapping[str, str]) -> int:
    return int(given.get("node.id") or given["broker.id"])


def _handler(
    call: Callable[[str, dict[str, str]], Response],
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            try:
                status, text = 200, ""
                text = java_properties.write(call(self.path[1:], java_properties.read(body)))
            except Exception as error:  # noqa: BLE001 - the harness reports it as a failed test
                status, text = 500, f"{type(error).__name__}: {error}"
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *words: object) -> None:
            """Do not log requests."""

    return Handler
