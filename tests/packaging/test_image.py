"""The Dockerfile: its image is built and run unchanged, and a client on this machine connects.

Buildah needs no daemon; with `--isolation chroot` the container uses this machine's network. Where
the base image cannot be pulled, SHIM_TEST_IMAGE_BASE is one that this machine has: `.ci/local-base`
makes it. Everything but the base is tested with it.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

ROOT = Path(__file__).parents[2]
BASE = re.findall(r"^ARG BASE=(.+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)[0]
LOCAL_BASE = os.environ.get("SHIM_TEST_IMAGE_BASE", "")
ISOLATED = ["--isolation", "chroot"]

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]


def buildah(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["buildah", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def container() -> Iterator[str]:
    """Build the image as `docker build .` does; yield the id of a container."""
    if shutil.which("buildah") is None:
        pytest.skip("the image is not built: buildah is not on the PATH")
    if not LOCAL_BASE:
        pulled = buildah("pull", "--policy", "missing", f"docker.io/library/{BASE}")
        if pulled.returncode != 0:
            pytest.skip(f"the image is not built: {pulled.stderr.strip().splitlines()[-1]}")
    words = ["--build-arg", f"BASE={LOCAL_BASE}"] if LOCAL_BASE else []
    built = buildah("bud", *ISOLATED, *words, "--pull-never", "--tag", "kafka-shim-test", ".")
    assert built.returncode == 0, built.stdout + built.stderr
    name = buildah("from", "--pull-never", "localhost/kafka-shim-test").stdout.strip()
    yield name
    buildah("rm", name)


def test_a_client_connects_to_a_container(container: str) -> None:
    configured = msgspec.json.decode(buildah("inspect", container).stdout)["OCIv1"]["config"]
    command = [*configured["Entrypoint"], *configured["Cmd"]]
    assert configured["User"] == "10001:10001"
    environment = {
        "KAFKA_LISTENERS": "PLAINTEXT://127.0.0.1:0",
        "KAFKA_ADVERTISED_LISTENERS": "",
        "KAFKA_AUTHORIZER_CLASS_NAME": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    }
    options = [word for item in environment.items() for word in ("--env", "=".join(item))]
    child = subprocess.Popen(
        ["buildah", "run", *ISOLATED, *options, container, "--", *command],
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert child.stdout is not None
    try:
        address = child.stdout.readline().strip().rpartition("PLAINTEXT://")[2]
        admin = AdminClient({"bootstrap.servers": address})
        [created] = admin.create_topics([NewTopic("orders", 1)]).values()
        created.result(20)
        assert "orders" in admin.list_topics(timeout=20).topics
        inside = ["kafka-shim", "acls", "--bootstrap-server", address, "--list"]
        asked = buildah("run", *ISOLATED, container, "--", *inside)
        assert asked.returncode == 0, asked.stderr
    finally:
        os.killpg(child.pid, signal.SIGTERM)
        child.communicate(timeout=20)
    host, port = address.split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))
