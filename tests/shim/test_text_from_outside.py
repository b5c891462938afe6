"""Text from clients that cannot be written, such as half of a surrogate pair, gets in nowhere."""

import base64
import json
import random
import ssl
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trustme

from kafka_shim.protocol.codec.codecs import message_reader, message_writer
from kafka_shim.protocol.codec.message_spec import load_message_spec
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.protocol.records.batches import encode_batch, iterate_batches
from kafka_shim.protocol.records.record_codec import Record
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.sasl.bearer_settings import build_token_validator
from kafka_shim.shim.sasl.bearer_token import TokenRejectedError, UnsecuredTokenValidator
from kafka_shim.shim.sasl.mechanism import SaslFailure
from kafka_shim.shim.sasl.plain import PlainExchange
from kafka_shim.shim.sasl.scram import ScramExchange
from kafka_shim.shim.sasl.scram_credential import ScramMechanism
from kafka_shim.shim.tls.distinguished_name import subject_of_certificate
from kafka_shim.text.input_files import is_utf8
from tests.protocol import values
from tests.protocol.values import ALL_NAMES, Values, versions_of
from tests.shim.sasl import bearer_cases

MARK = b"orders"
HALVES = (b"a\xed\xa0\x80bc", b"ab\xed\xb0\x80c", b"abcde\xed", b"\xff\xfe\xff\xfe\xff\xfe")
"""Texts of the mark's length: both halves of a pair, a part of one, and no UTF-8 at all."""


def texts(content: Any) -> Iterator[str]:
    """Yield all strings of a message."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, msgspec.Struct):
        for name in content.__struct_fields__:
            yield from texts(getattr(content, name))
    elif isinstance(content, list | tuple):
        for item in content:
            yield from texts(item)


@pytest.mark.parametrize("name", [name for name in ALL_NAMES if name.endswith("Request")])
def test_every_text_field_of_every_request_is_writable(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "TEXTS", (MARK.decode(),))
    spec = load_message_spec(name)
    for version in versions_of(name):
        data = message_writer(name, version)(Values(name, plain=True).message(spec, version))
        for half in HALVES:
            try:
                message = message_reader(name, version)(data.replace(MARK, half), 0)
            except DecodeError:
                continue
            assert all(map(is_utf8, texts(message)))


@pytest.mark.parametrize("half", HALVES)
def test_the_client_id_is_writable(half: bytes) -> None:
    frame = struct.pack(">hhih", 3, 1, 7, len(half)) + half + struct.pack(">i", -1)
    try:
        header, _ = read_request_header(frame)
    except DecodeError:
        return
    assert is_utf8(header.client_id or "")


def bearer(claims: bytes) -> str:
    parts = (b'{"alg":"none"}', claims)
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + "."


@pytest.mark.parametrize("half", HALVES)
def test_no_authentication_lets_such_a_name_in(half: bytes) -> None:
    name = half.decode(errors="surrogatepass") if half[0] < 128 and half[-1] < 128 else None
    passwords = {} if name is None else {name: "x"}
    with pytest.raises(SaslFailure):
        PlainExchange(passwords).respond(b"\0" + half + b"\0x")
    scram = ScramExchange(next(iter(ScramMechanism)), lambda *_: None, random.Random(1))
    with pytest.raises(SaslFailure):
        scram.respond(b"n,,n=" + half + b",r=abc")
    subjects = [b'"' + half + b'"'] + ([] if name is None else [json.dumps(name).encode()])
    for subject in subjects:
        with pytest.raises((TokenRejectedError, CloseConnection)):
            UnsecuredTokenValidator().validate(bearer(b'{"sub":%b,"exp":9}' % subject), 0)


@pytest.mark.parametrize("half", HALVES)
def test_no_signed_token_lets_such_a_name_in(half: bytes, tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text(bearer_cases.key_set())
    settings = {"sasl.oauthbearer.jwks.endpoint.url": keys.as_uri()}
    validator = build_token_validator(settings, "SASL_PLAINTEXT", bearer_cases.LENIENT)
    claims = b'{"sub":"' + half + b'","iat":900,"exp":9000000000}'
    with pytest.raises(TokenRejectedError):
        validator.validate(bearer_cases.signed(claims), 1_000_000)
    escaped = b'{"sub":"a\\ud800b","iat":900,"exp":9000000000}'
    with pytest.raises(TokenRejectedError):
        validator.validate(bearer_cases.signed(escaped), 1_000_000)
    whole = b'{"sub":"alice","iat":900,"exp":9000000000}'
    assert validator.validate(bearer_cases.signed(whole), 1_000_000)


@pytest.mark.parametrize("half", HALVES)
def test_the_subject_of_a_certificate_is_writable(half: bytes) -> None:
    authority = trustme.CA()
    leaf = authority.issue_cert("localhost", common_name=MARK.decode())
    certificate = ssl.PEM_cert_to_DER_cert(leaf.cert_chain_pems[0].bytes().decode())
    assert certificate.count(MARK) == 1
    subject = subject_of_certificate(certificate.replace(MARK, half))
    assert "\ufffd" in subject
    assert is_utf8(subject)


@pytest.mark.parametrize("half", HALVES)
def test_the_headers_of_records_are_writable(half: bytes) -> None:
    encoded = encode_batch([Record(0, 0, value=b"v", headers=((MARK.decode(), b"x"),))])
    assert encoded.count(MARK) == 1
    (batch,) = iterate_batches(encoded.replace(MARK, half))
    ((key, _),) = next(batch.iterate_records()).headers
    assert is_utf8(key)
