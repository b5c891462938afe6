"""SCRAM log-ins with kafka-python's client; malformed and wrong messages are rejected."""

import base64
import hashlib
import hmac
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from kafka.net.sasl.scram import ScramClient

from kafka_shim.protocol.releases.facts import facts_of_release
from kafka_shim.protocol.releases.users import NonceCheck
from kafka_shim.shim.sasl.mechanism import SaslFailure
from kafka_shim.shim.sasl.scram import ScramAccount, ScramExchange
from kafka_shim.shim.sasl.scram_credential import ScramMechanism
from kafka_shim.shim.state.users import Users

RECORDED_NONCES = Path(__file__).with_name("nonces_recorded.json")
NONCES: dict[str, Callable[[str], str]] = {
    "whole": lambda nonce: nonce,
    "client-twice": lambda nonce: f"mine{nonce}",
    "server-only": lambda nonce: nonce.removeprefix("mine"),
    "client-only": lambda _: "mine",
    "longer": lambda nonce: f"{nonce}x",
    "cut-off": lambda nonce: nonce[:-1],
}
"""Nonces in the final message, made of both sides' nonces; the client's is `mine`."""

BOTH = (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)


def exchange(
    mechanism: ScramMechanism, users: Users, nonce_check: NonceCheck = NonceCheck.WHOLE
) -> ScramExchange:
    def lookup(name: str, by_token: bool) -> ScramAccount | None:
        credential = None if by_token else users.scram_credential(mechanism, name)
        return None if credential is None else ScramAccount(credential, f"User:{name}")

    return ScramExchange(mechanism, lookup, random.Random(1), nonce_check)


def users(**passwords: str) -> Users:
    return Users(passwords, random.Random(2))


@pytest.mark.parametrize("mechanism", BOTH)
def test_a_client_logs_in_and_accepts_the_signature_of_the_server(
    mechanism: ScramMechanism,
) -> None:
    server = exchange(mechanism, users(alice="päss,word="))
    client = ScramClient("alice", "päss,word=", mechanism.wire_name)
    first = server.respond(client.first_message())
    assert first.principal is None
    client.process_server_first_message(first.message)
    final = server.respond(client.final_message())
    assert final.principal == "User:alice"
    client.process_server_final_message(final.message)


@pytest.mark.parametrize("mechanism", BOTH)
def test_a_wrong_password_is_refused_at_the_proof(mechanism: ScramMechanism) -> None:
    server = exchange(mechanism, users(alice="right"))
    client = ScramClient("alice", "wrong", mechanism.wire_name)
    client.process_server_first_message(server.respond(client.first_message()).message)
    with pytest.raises(SaslFailure, match="invalid credentials"):
        server.respond(client.final_message())


def test_an_unknown_user_is_refused_at_once() -> None:
    server = exchange(BOTH[0], users(alice="right"))
    with pytest.raises(SaslFailure, match="invalid credentials"):
        server.respond(ScramClient("bob", "right", "SCRAM-SHA-256").first_message())


def test_another_nonce_in_the_final_message_is_refused() -> None:
    """CVE-2024-56128: the final nonce must be the client's and the server's together."""
    server = exchange(BOTH[0], users(alice="right"))
    client = ScramClient("alice", "right", "SCRAM-SHA-256")
    client.process_server_first_message(server.respond(client.first_message()).message)
    final = client.final_message().decode()
    nonce = final.split("r=", 1)[1].split(",", 1)[0]
    with pytest.raises(SaslFailure, match="nonce"):
        server.respond(final.replace(nonce, nonce[:-4] + "AAAA").encode())


def recorded_nonces() -> dict[str, list[str]]:
    return dict(json.loads(RECORDED_NONCES.read_text()))


@pytest.mark.parametrize("kind", NONCES)
@pytest.mark.parametrize("release", recorded_nonces())
def test_final_nonces_with_a_correct_proof_are_accepted_as_by_kafka(
    release: str, kind: str
) -> None:
    """librdkafka before 2.6.1 repeats its own nonce, which releases before 4.0 accept."""
    nonce_check = facts_of_release(release).users.scram_nonce_check
    server = exchange(BOTH[0], users(alice="right"), nonce_check)
    first_bare = "n=alice,r=mine"
    server_first = server.respond(f"n,,{first_bare}".encode()).message.decode()
    fields = dict(part.split("=", 1) for part in server_first.split(","))
    salt, rounds = base64.b64decode(fields["s"]), int(fields["i"])
    key = hmac.digest(
        hashlib.pbkdf2_hmac("sha256", b"right", salt, rounds), b"Client Key", "sha256"
    )
    without_proof = f"c=biws,r={NONCES[kind](fields['r'])}"
    signed = f"{first_bare},{server_first},{without_proof}".encode()
    signature = hmac.digest(hashlib.sha256(key).digest(), signed, "sha256")
    proof = bytes(a ^ b for a, b in zip(key, signature, strict=True))
    final = f"{without_proof},p={base64.b64encode(proof).decode()}".encode()
    if kind in recorded_nonces()[release]:
        assert server.respond(final).principal == "User:alice"
    else:
        with pytest.raises(SaslFailure, match="nonce"):
            server.respond(final)


@pytest.mark.parametrize(
    "message",
    [b"", b"\xff\xfe", b"n,,", b"y,,n=alice,r=abc", b"n,,n=alice", b"n,,r=abc", b"n,,n=alice,r="],
)
def test_malformed_first_messages_are_refused(message: bytes) -> None:
    with pytest.raises(SaslFailure):
        exchange(BOTH[0], users(alice="right")).respond(message)


@pytest.mark.parametrize("proof", ["", "!!!", base64.b64encode(b"short").decode()])
def test_malformed_proofs_are_refused(proof: str) -> None:
    server = exchange(BOTH[0], users(alice="right"))
    client = ScramClient("alice", "right", "SCRAM-SHA-256")
    client.process_server_first_message(server.respond(client.first_message()).message)
    without_proof = client.final_message().decode().rpartition(",p=")[0]
    with pytest.raises(SaslFailure, match="invalid credentials"):
        server.respond(f"{without_proof},p={proof}".encode())


def test_another_authorization_id_is_refused() -> None:
    message = ScramClient("alice", "right", "SCRAM-SHA-256").first_message()
    with pytest.raises(SaslFailure):
        exchange(BOTH[0], users(alice="right")).respond(message.replace(b"n,,", b"n,a=admin,"))
