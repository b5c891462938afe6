"""Captures of TLS connections are decrypted with a key log."""

import asyncio
import contextlib
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.trace.entries import Request, Response
from kafka_shim.shim.cli import main
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.traffic.captures.into_trace import CaptureReport, import_capture
from kafka_shim.shim.traffic.captures.tls import KeyLog, read_key_log
from kafka_shim.shim.traffic.captures.tls_records import expanded
from tests.shim.observing.test_recorder import entries
from tests.shim.tls.test_tls_listeners import TLS, close, open_tls
from tests.shim.traffic.captures.live import capturing, needs_capturing
from tests.shim.traffic.captures.wires import (
    capture_of,
    connection,
    framed,
    heartbeat,
    heartbeat_result,
)
from tests.shim.wire import serving

COUNT = 6
LARGE = 40_000
"""Padding of a request that needs several TLS records."""
REQUESTS = [heartbeat(number, LARGE if number == 3 else 30) for number in range(COUNT)]
ANSWERS = [heartbeat_result(number) for number in range(COUNT)]
Piece = tuple[int, bytes]


class Pair:
    """A TLS client and a TLS server in this process, and all bytes that they sent."""

    def __init__(self, key_log: Path, version: ssl.TLSVersion, ciphers: str = "") -> None:
        authority = trustme.CA()
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("localhost").configure_cert(server)
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        authority.configure_trust(client)
        client.minimum_version = client.maximum_version = version
        if ciphers:
            client.set_ciphers(ciphers)
        client.keylog_filename = str(key_log)
        self.sent: list[Piece] = []
        self._buffers = [(ssl.MemoryBIO(), ssl.MemoryBIO()) for _ in range(2)]
        self._ends = (
            client.wrap_bio(*self._buffers[0], server_hostname="localhost"),
            server.wrap_bio(*self._buffers[1], server_side=True),
        )
        for _ in range(4):
            for end in self._ends:
                with contextlib.suppress(ssl.SSLWantReadError):
                    end.do_handshake()
                self._carry()
        self.cipher = self._ends[0].cipher()

    def say(self, sender: int, data: bytes) -> None:
        self._ends[sender].write(data)
        self._carry()
        heard = b""
        while len(heard) < len(data):
            heard += self._ends[1 - sender].read(len(data))

    def _carry(self) -> None:
        for sender in (0, 1):
            if data := self._buffers[sender][1].read():
                self.sent.append((sender, data))
                self._buffers[1 - sender][0].write(data)


def spoken(pair: Pair) -> list[Piece]:
    """Send all requests and responses; return the encrypted bytes in pieces of varying size."""
    for request, response in zip(REQUESTS, ANSWERS, strict=True):
        pair.say(0, framed(request))
        pair.say(1, framed(response))
    return [piece for sender, data in pair.sent for piece in cut(sender, data)]


def cut(sender: int, data: bytes) -> Iterator[Piece]:
    for at in range(0, len(data), 1_460):
        yield sender, data[at : at + 1_460]


def imported(
    pieces: list[Piece], folder: Path, keys: KeyLog | None
) -> tuple[list[bytes], list[bytes], CaptureReport]:
    report = import_capture(capture_of(connection(pieces)), folder, frozenset(), keys=keys)
    found, _ = entries(folder)
    requests = [entry.frame for _, entry in found if isinstance(entry, Request)]
    return requests, [entry.frame for _, entry in found if isinstance(entry, Response)], report


@pytest.mark.parametrize(
    ("version", "ciphers", "name"),
    [
        (ssl.TLSVersion.TLSv1_3, "", "TLS_AES_256_GCM_SHA384"),
        (ssl.TLSVersion.TLSv1_2, "ECDHE+AESGCM+AES128", "ECDHE-ECDSA-AES128-GCM-SHA256"),
        (ssl.TLSVersion.TLSv1_2, "ECDHE+AESGCM+AES256", "ECDHE-ECDSA-AES256-GCM-SHA384"),
        (ssl.TLSVersion.TLSv1_2, "ECDHE+CHACHA20", "ECDHE-ECDSA-CHACHA20-POLY1305"),
    ],
)
def test_encrypted_frames_are_read(
    version: ssl.TLSVersion, ciphers: str, name: str, tmp_path: Path
) -> None:
    pair = Pair(tmp_path / "keys", version, ciphers)
    assert pair.cipher is not None
    assert pair.cipher[0] == name
    pieces = spoken(pair)
    keys = read_key_log(tmp_path / "keys")
    requests, responses, report = imported(pieces, tmp_path / "trace", keys)
    assert (requests, responses) == (REQUESTS, ANSWERS)
    assert (report.connections, report.troubles) == (1, [])


def test_after_a_lost_segment_nothing_is_decrypted(tmp_path: Path) -> None:
    pair = Pair(tmp_path / "keys", ssl.TLSVersion.TLSv1_3)
    segments = connection(spoken(pair))
    large = max(range(len(segments)), key=lambda at: len(segments[at].data) + at / 1_000)
    del segments[large]
    keys = read_key_log(tmp_path / "keys")
    report = import_capture(capture_of(segments), tmp_path / "trace", keys=keys)
    found, _ = entries(tmp_path / "trace")
    assert [entry.frame for _, entry in found if isinstance(entry, Request)] == REQUESTS[:3]
    (trouble,) = report.troubles
    assert trouble.tls_failure == "bytes of it are lost"


def test_a_connection_without_keys_is_reported(tmp_path: Path) -> None:
    pieces = spoken(Pair(tmp_path / "keys", ssl.TLSVersion.TLSv1_3))
    Pair(tmp_path / "others", ssl.TLSVersion.TLSv1_3)
    for keys, troubles in (
        (None, []),
        (read_key_log(tmp_path / "others"), ["the key log has nothing for this connection"]),
    ):
        requests, _, report = imported(pieces, tmp_path / f"trace-{len(troubles)}", keys)
        assert requests == []
        assert report.passed_over == {"connections of other protocols": 1}
        assert [trouble.tls_failure for trouble in report.troubles] == troubles


def test_renewed_keys_are_used(tmp_path: Path) -> None:
    """OpenSSL renews keys only after many records, so this test encrypts the last two itself."""
    pair = Pair(tmp_path / "keys", ssl.TLSVersion.TLSv1_3)
    pieces = spoken(pair)
    keys = read_key_log(tmp_path / "keys")
    secret = client_secret(tmp_path / "keys")
    sent = sum(len(request) > 16_384 for request in REQUESTS) * (LARGE // 16_384) + COUNT
    update = sealed(secret, sent, b"\x18\0\0\1\0", 22)
    renewed = expanded(secret, "traffic upd", 48, "sha384")
    last = heartbeat(COUNT)
    pieces += [(0, update), (0, sealed(renewed, 0, framed(last), 23))]
    requests, _, report = imported(pieces, tmp_path / "trace", keys)
    assert (requests, report.troubles) == ([*REQUESTS, last], [])


def client_secret(key_log: Path) -> bytes:
    for line in key_log.read_text().splitlines():
        if line.startswith("CLIENT_TRAFFIC_SECRET_0"):
            return bytes.fromhex(line.split()[2])
    raise AssertionError


def sealed(secret: bytes, sequence: int, content: bytes, kind: int) -> bytes:
    key, iv = (expanded(secret, *of, "sha384") for of in (("key", 32), ("iv", 12)))
    nonce = (int.from_bytes(iv, "big") ^ sequence).to_bytes(12, "big")
    head = b"\x17\3\3" + (len(content) + 17).to_bytes(2, "big")
    return head + AESGCM(key).encrypt(nonce, content + bytes([kind]), head)


@pytest.mark.parametrize("at", range(0, 2_000, 97))
def test_damage_ends_the_decryption(at: int, tmp_path: Path) -> None:
    pieces = spoken(Pair(tmp_path / "keys", ssl.TLSVersion.TLSv1_3))
    place = at % len(pieces)
    sender, data = pieces[place]
    middle = at % len(data)
    pieces[place] = (sender, data[:middle] + bytes([data[middle] ^ 0x41]) + data[middle + 1 :])
    requests, _, _ = imported(pieces, tmp_path / "trace", read_key_log(tmp_path / "keys"))
    assert requests == REQUESTS[: len(requests)]


def test_the_command_takes_a_key_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pieces = spoken(Pair(tmp_path / "keys", ssl.TLSVersion.TLSv1_3))
    (tmp_path / "some.pcap").write_bytes(capture_of(connection(pieces)).getvalue())
    words = ["trace", "import", "--input-format", "pcap", str(tmp_path / "some.pcap")]
    assert main([*words, str(tmp_path / "one"), "--key-log", str(tmp_path / "keys")]) == 0
    assert f"{COUNT} requests, {COUNT} responses" in capsys.readouterr().err
    assert main([*words, str(tmp_path / "two")]) == 1
    Pair(tmp_path / "others", ssl.TLSVersion.TLSv1_3)
    assert main([*words, str(tmp_path / "three"), "--key-log", str(tmp_path / "others")]) == 1
    assert "not read: the key log has nothing" in capsys.readouterr().err


@needs_capturing
@pytest.mark.asyncio
async def test_a_tls_capture_of_tcpdump_is_decrypted(tmp_path: Path) -> None:
    certificates = {"shim.tls.directory": str(tmp_path)}
    async with serving(listeners=(TLS,), properties=certificates) as broker:
        broker.record(tmp_path / "trace")
        context = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
        context.keylog_filename = str(tmp_path / "keys")
        port = broker.bootstrap_servers().rpartition(":")[2]
        with capturing(tmp_path / "lo.pcap", [port]):
            wire = await open_tls(broker.bootstrap_servers(), context)
            for number in range(COUNT):
                asked = MetadataRequest(topics=[MetadataRequestTopic(name=f"t{number}")])
                await wire.ask(ApiKey.METADATA, 12, asked)
            await close(wire)
            await asyncio.sleep(0.1)
    keys = read_key_log(tmp_path / "keys")
    with (tmp_path / "lo.pcap").open("rb") as file:
        import_capture(file, tmp_path / "imported", keys=keys)
    recorded, imported = (
        [
            entry.frame
            for _, entry in entries(tmp_path / name)[0]
            if isinstance(entry, Request | Response)
        ]
        for name in ("trace", "imported")
    )
    assert len(imported) == 2 * COUNT
    assert imported == recorded


@pytest.mark.parametrize(("text", "says"), [(None, "No such file"), ("x y z\n# a\n", "no lines")])
def test_an_invalid_key_log_is_reported(text: str | None, says: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "keys").write_text(text)
    with pytest.raises(ConfigError, match=says):
        read_key_log(tmp_path / "keys")
