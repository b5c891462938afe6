"""A stand-in for a Docker daemon, which runs containers of the kafka-shim image as local processes.

Testcontainers of any language talk to it as to a real daemon. A container is the installed command
`kafka-shim`, the image's entry point, in a network namespace of its own: its ports are reached only
through the host ports that the stand-in maps to them, as with Docker. It needs root on Linux.
"""

import contextlib
import ctypes
import json
import os
import re
import socket
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.commands import SHIM

CLONE_NEWNET = 0x40000000
IN_NAMESPACE = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$0" "$@"']
START_S = 10
VERSION = {
    "ApiVersion": "1.47", "MinAPIVersion": "1.24", "Version": "27.0.0", "Os": "linux",
    "Arch": "amd64",
}  # fmt: skip
BRIDGE = {"Name": "bridge", "Id": "bridge", "Driver": "bridge", "IPAM": {"Config": []}}
INFO = {
    "ServerVersion": "27.0.0", "OperatingSystem": "stand-in", "OSType": "linux",
    "MemTotal": 8 << 30, "Architecture": "x86_64", "Driver": "none", "Labels": [], "NCPU": 2,
}  # fmt: skip

IMAGE = {
    "Id": "sha256:0", "RepoTags": [], "Config": {}, "Os": "linux", "Architecture": "amd64",
}  # fmt: skip
CONSTANT: dict[tuple[str, str], Any] = {
    ("GET", "version"): VERSION,
    ("GET", "info"): INFO,
    ("GET", "networks"): [BRIDGE],
    ("GET", "networks/bridge"): BRIDGE,
    ("GET", "images/json"): [],
    ("GET", "containers/json"): [],
    ("POST", "images/prune"): {},
    ("POST", "networks/prune"): {},
    ("POST", "volumes/prune"): {},
}


class Container:
    """A process in a network namespace, and the host ports that lead to it."""

    def __init__(self, number: int, created: dict[str, Any], command: list[str], log: Path) -> None:
        self.id = f"{number:064x}"
        self.created = created
        self.command = command
        self.log = log
        self.ports: dict[str, int] = {}
        self.process: subprocess.Popen[bytes] | None = None
        self._accepting: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._namespace: int | None = None

    def start(self) -> None:
        """Start the process with the variables and arguments of the container."""
        variables = dict(word.split("=", 1) for word in self.created.get("Env") or [])
        outer = {name: value for name, value in os.environ.items() if name[:6] != "KAFKA_"}
        words = [*IN_NAMESPACE, *self.command, *(self.created.get("Cmd") or [])]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                words, env=outer | variables, stdout=log, stderr=subprocess.STDOUT
            )
        namespace = self._namespace = self._wait_for_namespace()
        for name in self.created.get("ExposedPorts") or {}:
            listening = socket.create_server(("127.0.0.1", 0))
            self._accepting.append(listening)
            self.ports[name] = listening.getsockname()[1]
            inner = int(name.partition("/")[0])
            thread = threading.Thread(
                target=forward, args=(listening, namespace, inner), daemon=True
            )
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        for listening in self._accepting:
            with contextlib.suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)  # ends the accept of its thread
            listening.close()
        if self.process is not None:
            self.process.terminate()
            self.process.wait(START_S)
        for thread in self._threads:
            thread.join()
        if self._namespace is not None:
            os.close(self._namespace)
            self._namespace = None

    def inspected(self) -> dict[str, Any]:
        """Return the description of the container, as in GET /containers/{id}/json."""
        bindings = {
            name: [{"HostIp": "127.0.0.1", "HostPort": str(port)}]
            for name, port in self.ports.items()
        }
        is_running = self.process is not None and self.process.poll() is None
        state = {
            "Status": "running" if is_running else "exited", "Running": is_running, "Paused": False,
            "Restarting": False, "ExitCode": 0, "StartedAt": "2026-01-01T00:00:00.000000001Z",
            "FinishedAt": "0001-01-01T00:00:00Z", "Dead": False, "OOMKilled": False, "Error": "",
            "Pid": self.process.pid if self.process else 0,
        }  # fmt: skip
        return {
            "Id": self.id, "Name": f"/{self.id[-12:]}", "State": state, "Image": "sha256:0",
            "Created": "2026-01-01T00:00:00.000000001Z", "Config": self.created, "Mounts": [],
            "HostConfig": {"NetworkMode": "bridge", "LogConfig": {"Type": "json-file"}},
            "NetworkSettings": {
                "Ports": bindings, "IPAddress": "127.0.0.1",
                "Networks": {"bridge": {"IPAddress": "127.0.0.1", "Gateway": "127.0.0.1"}},
            },
        }  # fmt: skip

    def _wait_for_namespace(self) -> int:
        assert self.process is not None
        own = Path("/proc/self/ns/net").readlink()
        place = Path(f"/proc/{self.process.pid}/ns/net")
        deadline = time.monotonic() + START_S
        while place.readlink() == own and time.monotonic() < deadline:
            time.sleep(0.005)
        return os.open(place, os.O_RDONLY)


def forward(listening: socket.socket, namespace: int, port: int) -> None:
    """Forward connections to a port in a namespace, which this thread enters for good."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "cannot enter the network namespace")
    with contextlib.suppress(OSError):  # the listening socket is closed at the end
        while True:
            outer, _ = listening.accept()
            try:
                inner = socket.create_connection(("127.0.0.1", port))
            except OSError:
                outer.close()
                continue
            threading.Thread(target=join, args=(outer, inner), daemon=True).start()


def join(outer: socket.socket, inner: socket.socket) -> None:
    """Copy between two connections until both ends are closed."""
    with outer, inner:
        back = threading.Thread(target=copy, args=(inner, outer), daemon=True)
        back.start()
        copy(outer, inner)
        back.join()


def copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


class Daemon(ThreadingHTTPServer):
    """The daemon; `unknown` are the requests that it does not know."""

    def __init__(self, command: list[str], folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Api)
        self.command = command
        self.folder = folder
        self.containers: dict[str, Container] = {}
        self.images: list[str] = []
        self.unknown: list[str] = []

    def create(self, created: dict[str, Any]) -> Container:
        number = len(self.images) + 1
        self.images.append(created["Image"])
        container = Container(number, created, self.command, self.folder / f"container-{number}")
        self.containers[container.id] = container
        return container

    def stop(self) -> None:
        for container in self.containers.values():
            container.stop()
        self.shutdown()
        self.server_close()


class Api(BaseHTTPRequestHandler):
    """The part of Docker's API that Testcontainers use."""

    protocol_version = "HTTP/1.1"
    server: Daemon

    def handle_request(self) -> None:
        body = self.body()
        path = re.sub(r"^/v[\d.]+", "", urlsplit(self.path).path).strip("/")
        if path == "_ping":
            self.respond(200, b"OK", "text/plain")
        elif (self.command, path) in CONSTANT:
            self.respond(200, CONSTANT[self.command, path])
        elif (self.command, path) == ("POST", "containers/create"):
            container = self.server.create(json.loads(body))
            self.respond(201, {"Id": container.id, "Warnings": []})
        elif self.command == "GET" and re.fullmatch("images/.+/json", path):
            self.respond(200, IMAGE)
        else:
            kind, name, *rest = [*path.split("/"), ""]
            container_or_none = self.server.containers.get(name) if kind == "containers" else None
            if container_or_none is None:
                self.respond_unknown()
            else:
                self.of_container(container_or_none, rest[:-1])

    def respond_unknown(self) -> None:
        self.server.unknown.append(f"{self.command} {self.path}")
        self.respond(404, {"message": f"unknown here: {self.command} {self.path}"})

    def of_container(self, container: Container, rest: list[str]) -> None:
        match self.command, rest:
            case "GET", ["json"]:
                self.respond(200, container.inspected())
            case "GET", ["logs"]:
                follows = parse_qs(urlsplit(self.path).query).get("follow") in (["1"], ["true"])
                text = container.log.read_bytes()
                framed = b"\1\0\0\0" + len(text).to_bytes(4) + text if text and not follows else b""
                self.respond(200, framed, "application/vnd.docker.multiplexed-stream")
            case "POST", ["start"]:
                container.start()
                self.respond(204, b"")
            case "POST", ["stop" | "kill"]:
                container.stop()
                self.respond(204, b"")
            case "DELETE", []:
                container.stop()
                del self.server.containers[container.id]
                self.respond(204, b"")
            case _:
                self.respond_unknown()

    do_GET = do_HEAD = do_POST = do_DELETE = do_PUT = handle_request  # noqa: N815 - names of the base class

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def respond(self, status: int, value: Any, content: str = "application/json") -> None:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Api-Version", VERSION["ApiVersion"])
        if status != 204:
            self.send_header("Content-Type", content)
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD" and status != 204:
            self.wfile.write(data)

    def log_message(self, format: str, *words: Any) -> None:  # noqa: A002 - as in the base class
        with (self.server.folder / "requests").open("a") as log:
            log.write(format % words + "\n")


def start_daemon(folder: Path) -> Daemon:
    """Start the daemon in a thread, with the package under test as the image."""
    daemon = Daemon([*SHIM], folder)
    threading.Thread(target=daemon.serve_forever, daemon=True).start()
    return daemon
