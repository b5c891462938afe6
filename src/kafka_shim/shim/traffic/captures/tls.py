"""Decrypt TLS in a capture with the keys of a key log (SSLKEYLOGFILE).

TLS 1.2 and 1.3 with authenticated ciphers are supported, without early data and renegotiation.
"""

from collections.abc import Iterator
from pathlib import Path
from struct import Struct, error as struct_error

from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.traffic.captures.tls_records import (
    CIPHERS,
    TLS_1_2,
    TLS_1_3,
    Cipher,
    Opener,
    Records,
    TlsError,
    digest_bytes,
    expanded,
    opener_1_3,
    openers_1_2,
)

_CHANGE_CIPHER_SPEC, _ALERT, _HANDSHAKE, _DATA = 20, 21, 22, 23
_CLIENT_HELLO, _SERVER_HELLO, _FINISHED, _KEY_UPDATE = 1, 2, 20, 24
_SUPPORTED_VERSIONS = 43
_RANDOM = slice(2, 34)
_SESSION_ID_AT = 34
_RETRY = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")
"""The random of a HelloRetryRequest (RFC 8446, 4.1.3)."""
_SHORT = Struct(">H")
_SIDES = ("CLIENT", "SERVER")


class KeyLog:
    """Secrets by label and by the random of the client's hello."""

    def __init__(self, lines: Iterator[str]) -> None:
        """Read lines of the form `LABEL RANDOM SECRET` in hex; others are ignored."""
        self._secrets: dict[tuple[str, bytes], bytes] = {}
        for line in lines:
            words = line.split()
            if len(words) == 3 and not line.startswith("#"):
                try:
                    random, secret = bytes.fromhex(words[1]), bytes.fromhex(words[2])
                except ValueError:
                    continue
                self._secrets[words[0], random] = secret

    def __len__(self) -> int:
        return len(self._secrets)

    def connection(self) -> "TlsConnection":
        """Return a new connection, which is decrypted with these keys."""
        return TlsConnection(self)

    def secret(self, label: str, random: bytes) -> bytes:
        """Return a secret; TlsError if it is not in the log."""
        found = self._secrets.get((label, random))
        if found is None:
            raise TlsError("the key log has nothing for this connection")
        return found


def read_key_log(path: Path) -> KeyLog:
    """Read a key log; ConfigError if it cannot be read, or has no secrets."""
    try:
        with path.open(encoding="ascii", errors="replace") as lines:
            found = KeyLog(lines)
    except OSError as error:
        raise ConfigError(f"--key-log {path}: {error.strerror}") from error
    if not found:
        raise ConfigError(
            f"--key-log {path}: it contains no lines of the form `LABEL RANDOM SECRET`"
        )
    return found


class _Side:
    """One direction: its records, incomplete handshake message, and current keys."""

    def __init__(self) -> None:
        self.records = Records()
        self.handshake = b""
        self.opener: Opener | None = None
        self.next_opener: Opener | None = None
        self.secret = b""


class TlsConnection:
    """Both directions of a connection, whose bytes are fed in the order of sending."""

    def __init__(self, keys: KeyLog) -> None:
        self._keys = keys
        self._sides = (_Side(), _Side())
        self._random = b""
        self._cipher = Cipher(0, "")
        self._version = 0
        self.failure = ""

    def feed(self, side: int, data: bytes) -> bytes:
        """Return the decrypted bytes; none once `failure` says why they cannot be decrypted."""
        if not self.failure:
            try:
                return self._feed(side, data)
            except TlsError as error:
                self.failure = str(error)
        return b""

    def lose(self) -> None:
        """Record a loss, after which the next record cannot be found."""
        self.failure = self.failure or "bytes of it are lost"

    def _feed(self, side: int, data: bytes) -> bytes:
        own = self._sides[side]
        said = []
        for record in own.records.feed(data):
            kind, content = record.kind, record.body
            if kind == _CHANGE_CIPHER_SPEC:
                if self._version == TLS_1_2:
                    own.opener = own.next_opener
                continue
            if own.opener is not None:
                kind, content = own.opener.open(record)
            if kind == _DATA:
                said.append(content)
            elif kind == _HANDSHAKE:
                own.handshake += content
                self._shake_hands(side)
            elif kind != _ALERT:
                raise TlsError(f"unknown kind {kind} of TLS record")
        return b"".join(said)

    def _shake_hands(self, side: int) -> None:
        own = self._sides[side]
        while len(own.handshake) >= 4:
            end = 4 + int.from_bytes(own.handshake[1:4], "big")
            if len(own.handshake) < end:
                return
            kind, body = own.handshake[0], own.handshake[4:end]
            own.handshake = own.handshake[end:]
            if kind == _CLIENT_HELLO:
                self._random = body[_RANDOM]
            elif kind == _SERVER_HELLO and body[_RANDOM] != _RETRY:
                self._agree(body)
            elif self._version == TLS_1_3:
                self._change_keys(side, kind)

    def _agree(self, hello: bytes) -> None:
        """Take version and cipher from the server's hello, and derive the keys."""
        try:
            at = _SESSION_ID_AT + 1 + hello[_SESSION_ID_AT]
            suite = _SHORT.unpack_from(hello, at)[0]
            self._version = _version(hello, at + 3)
        except (IndexError, struct_error) as error:
            raise TlsError("the server's hello is cut off") from error
        if suite not in CIPHERS or self._version not in (TLS_1_2, TLS_1_3):
            known = f"cipher suite 0x{suite:04x} of version 0x{self._version:04x}"
            raise TlsError(f"{known} is not read")
        self._cipher = CIPHERS[suite]
        if self._version == TLS_1_2:
            master = self._keys.secret("CLIENT_RANDOM", self._random)
            openers = openers_1_2(self._cipher, master, hello[_RANDOM] + self._random)
            for side, opener in zip(self._sides, openers, strict=True):
                side.next_opener = opener
        else:
            for number, name in enumerate(_SIDES):
                label = f"{name}_HANDSHAKE_TRAFFIC_SECRET"
                self._use(number, self._keys.secret(label, self._random))

    def _change_keys(self, side: int, kind: int) -> None:
        """Change to the keys for data after Finished, or to the next ones after KeyUpdate (RFC
        8446, 7.2).
        """
        own = self._sides[side]
        if kind == _FINISHED:
            self._use(side, self._keys.secret(f"{_SIDES[side]}_TRAFFIC_SECRET_0", self._random))
        elif kind == _KEY_UPDATE:
            length = digest_bytes(self._cipher)
            self._use(side, expanded(own.secret, "traffic upd", length, self._cipher.digest))

    def _use(self, side: int, secret: bytes) -> None:
        own = self._sides[side]
        own.secret, own.opener = secret, opener_1_3(self._cipher, secret)


def _version(hello: bytes, at: int) -> int:
    """Return the version in the extension, which TLS 1.3 has, or else in the hello itself."""
    end = at + 2 + _SHORT.unpack_from(hello, at)[0] if len(hello) >= at + 2 else at
    at += 2
    while at + 4 <= end:
        kind, length = _SHORT.unpack_from(hello, at)[0], _SHORT.unpack_from(hello, at + 2)[0]
        if kind == _SUPPORTED_VERSIONS:
            return int(_SHORT.unpack_from(hello, at + 4)[0])
        at += 4 + length
    return int(_SHORT.unpack_from(hello, 0)[0])
