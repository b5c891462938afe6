"""The port of the control API: where it listens, and who may call it."""

import socket
import subprocess

import pytest

from kafka_shim.testing.transport import HttpControl
from tests.shim.control.plain_http import Http, fails
from tests.support.commands import SHIM

pytestmark = pytest.mark.timeout(300, func_only=True)


SERVE = (*SHIM, "serve", "--listener", "PLAINTEXT://127.0.0.1:0")


def serve(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*SERVE, *words], capture_output=True, text=True, check=False, timeout=30)


def test_a_token_is_required_beyond_loopback() -> None:
    done = serve("--control", "0.0.0.0:0")
    assert done.returncode == 2
    assert "add --control-token TOKEN" in done.stderr


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("8080", "expected HOST:PORT"),
        ("localhost:x", "expected HOST:PORT"),
        ("127.0.0.1:70000", "port 70000 is out of range (0 to 65535)"),
    ],
)
def test_an_invalid_address_is_reported(where: str, text: str) -> None:
    done = serve("--control", where)
    assert done.returncode == 2
    assert text in done.stderr


def test_a_port_in_use_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = serve("--control", f"127.0.0.1:{taken.getsockname()[1]}")
    assert done.returncode == 1
    assert "cannot listen on" in done.stderr


def test_with_a_token_all_calls_except_health_need_it() -> None:
    child = subprocess.Popen(
        [*SERVE, "--control", "0.0.0.0:0", "--control-token", "s3cret"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert child.stdout is not None
        line = next(line for line in child.stdout if line.startswith("control on"))
        port = line.rpartition(":")[2].strip()
        api = Http(f"http://127.0.0.1:{port}")
        assert api.ask("GET", "/health")[0] == 200
        for path in ("/state", "/openapi.json", "/metrics"):
            fails(api.ask("GET", path), 401, "token")
            fails(api.ask("GET", path, Authorization="Bearer wrong"), 401, "token")
            assert api.ask("GET", path, Authorization="Bearer s3cret")[0] == 200
        ours = HttpControl(f"127.0.0.1:{port}", "s3cret")
        assert ours.call("GET", "/topics", {}, None) == {"topics": []}
        ours.close()
    finally:
        child.terminate()
        child.communicate(timeout=20)
