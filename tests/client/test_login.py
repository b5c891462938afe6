import pytest

from kafka_shim.client.config import Login
from kafka_shim.client.login import InvalidLoginResponseError, sasl_messages

# The example exchange of RFC 7677, section 3.
NONCE = "rOprNGfwEbeRWgbNEkqO"
FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = (
    b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
)
FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
LOGIN = Login("SCRAM-SHA-256", "user", "pencil")


def test_plain_sends_name_and_password() -> None:
    exchange = sasl_messages(Login("PLAIN", "alice", "sécret"))
    assert next(exchange) == b"\0alice\0s\xc3\xa9cret"
    with pytest.raises(StopIteration):
        exchange.send(b"")


def test_scram_sends_the_messages_of_the_rfc() -> None:
    exchange = sasl_messages(LOGIN, NONCE)
    assert next(exchange) == FIRST
    assert exchange.send(SERVER_FIRST) == FINAL
    with pytest.raises(StopIteration):
        exchange.send(SERVER_FINAL)


def test_names_are_escaped_and_nonces_differ() -> None:
    login = Login("SCRAM-SHA-512", "CN=a,O=b", "x")
    first = next(sasl_messages(login))
    assert first.startswith(b"n,,n=CN=3Da=2CO=3Db,r=")
    assert first != next(sasl_messages(login))


@pytest.mark.parametrize(
    "response", [b"", b"r=other,s=AAAA,i=4096", SERVER_FIRST.replace(b"4096", b"x"), b"e=no"]
)
def test_an_invalid_first_message_of_the_server_is_rejected(response: bytes) -> None:
    exchange = sasl_messages(LOGIN, NONCE)
    next(exchange)
    with pytest.raises(InvalidLoginResponseError, match="is invalid"):
        exchange.send(response)


@pytest.mark.parametrize("iterations", [b"1", b"0", b"4095"])
def test_fewer_iterations_than_kafkas_clients_accept_are_rejected(iterations: bytes) -> None:
    """As by Java's ScramSaslClient: a proof over few iterations gives the password away."""
    exchange = sasl_messages(LOGIN, NONCE)
    next(exchange)
    with pytest.raises(InvalidLoginResponseError, match="expected at least 4096"):
        exchange.send(SERVER_FIRST.replace(b"4096", iterations))


def test_a_server_that_does_not_know_the_password_is_rejected() -> None:
    exchange = sasl_messages(LOGIN, NONCE)
    next(exchange)
    exchange.send(SERVER_FIRST)
    with pytest.raises(InvalidLoginResponseError, match="does not know the password itself"):
        exchange.send(b"v=AAAA")
