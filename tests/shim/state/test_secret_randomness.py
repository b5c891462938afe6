"""Random values that protect log-ins are unpredictable without `--seed`."""

import os
import secrets

import pytest

from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import Config
from kafka_shim.shim.handlers.common import sasl_authentication
from kafka_shim.shim.request.session import AuthenticationPhase, Session
from kafka_shim.shim.state.cluster import Cluster
from tests.shim.play import SASL_LISTENER


def proofs(seed: int | None) -> list[bytes]:
    """Return a SCRAM nonce with salt, a token's id, and its HMAC with the default secret."""
    config = Config(seed=seed, users={"alice": "alice-secret"}, listeners=(SASL_LISTENER,))
    cluster = Cluster(config, ManualClock())
    session = Session(SASL_LISTENER, 1, "127.0.0.1", 50_000)
    sasl_authentication.begin_sasl_exchange(
        "SCRAM-SHA-256", session, cluster, AuthenticationPhase.AUTHENTICATE
    )
    first = sasl_authentication.process_sasl_message(
        b"n,,n=alice,r=client", session, cluster
    ).message
    token = cluster.tokens.create_token("User:alice", "User:alice", (), -1)
    return [first, token.token_id.encode(), token.hmac]


def test_a_seed_repeats_the_random_values() -> None:
    assert proofs(7) == proofs(7)
    assert not set(proofs(7)) & set(proofs(8))


def test_without_a_seed_random_values_come_from_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def randbytes(_: object, count: int) -> bytes:
        asked.append(count)
        return os.urandom(count)

    monkeypatch.setattr(secrets.SystemRandom, "randbytes", randbytes)
    assert not set(proofs(None)) & set(proofs(None))
    assert sorted(asked[: len(asked) // 2]) == [16, 24, 24, 32]  # id, nonce, salt, secret
