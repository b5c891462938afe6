"""Who can log in: passwords for PLAIN, salted keys for SCRAM (RFC 5802, KIP-84)."""

import hashlib
import hmac
import random
from collections.abc import Mapping
from enum import IntEnum

import msgspec

ITERATIONS = 4096
"""For users of the configuration; the least that Kafka accepts from clients."""


class ScramMechanism(IntEnum):
    """SCRAM mechanisms by their code in the credential APIs (KIP-554)."""

    UNKNOWN = 0
    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @property
    def wire_name(self) -> str:
        return self.name.replace("_", "-")

    @property
    def digest(self) -> str:
        """Name of the hash function."""
        return "sha256" if self is ScramMechanism.SCRAM_SHA_256 else "sha512"


class ScramCredential(msgspec.Struct, frozen=True):
    """What a server keeps of a password: it cannot log in elsewhere with it."""

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes


def credential_of(
    mechanism: ScramMechanism, salted_password: bytes, salt: bytes, iterations: int
) -> ScramCredential:
    """From the salted password, which is all that AlterUserScramCredentials sends."""
    client_key = hmac.digest(salted_password, b"Client Key", mechanism.digest)
    return ScramCredential(
        salt,
        iterations,
        hashlib.new(mechanism.digest, client_key).digest(),
        hmac.digest(salted_password, b"Server Key", mechanism.digest),
    )


def salted_credential(
    mechanism: ScramMechanism, password: str, salt: bytes, iterations: int = ITERATIONS
) -> ScramCredential:
    """From the password itself (or, with delegation tokens, from the token's HMAC)."""
    salted = hashlib.pbkdf2_hmac(mechanism.digest, password.encode(), salt, iterations)
    return credential_of(mechanism, salted, salt, iterations)


class Users:
    """All credentials. Those of the configuration serve every mechanism.

    SCRAM keys of configured users are made at their first log-in: 4096 rounds take milliseconds.
    """

    def __init__(self, passwords: Mapping[str, str], rng: random.Random) -> None:
        self._passwords = dict(passwords)
        self._random = rng
        self._scram: dict[tuple[ScramMechanism, str], ScramCredential] = {}
        self._removed: set[tuple[ScramMechanism, str]] = set()

    @property
    def passwords(self) -> Mapping[str, str]:
        """Name to password, for PLAIN."""
        return self._passwords

    def add(self, name: str, password: str) -> None:
        """A user for every mechanism; an old password is forgotten."""
        self._passwords[name] = password
        for mechanism in ScramMechanism:
            self._scram.pop((mechanism, name), None)
            self._removed.discard((mechanism, name))

    def remove(self, name: str) -> None:
        """Forget a user in every mechanism; an unknown one is no error."""
        self._passwords.pop(name, None)
        for mechanism in ScramMechanism:
            self._scram.pop((mechanism, name), None)

    def names(self) -> list[str]:
        """Users with at least one SCRAM credential, sorted."""
        found = {name for _, name in self._scram}
        for name in self._passwords:
            if self.scram_mechanisms(name):
                found.add(name)
        return sorted(found)

    def scram(self, mechanism: ScramMechanism, name: str) -> ScramCredential | None:
        key = mechanism, name
        if key in self._removed:
            return None
        if key not in self._scram and name in self._passwords:
            salt = self._random.randbytes(24)
            self._scram[key] = salted_credential(mechanism, self._passwords[name], salt)
        return self._scram.get(key)

    def scram_mechanisms(self, name: str) -> list[ScramMechanism]:
        """The mechanisms in which this user has a credential."""
        known = (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)
        return [
            one
            for one in known
            if (one, name) in self._scram
            or (name in self._passwords and (one, name) not in self._removed)
        ]

    def set_scram(self, mechanism: ScramMechanism, name: str, credential: ScramCredential) -> None:
        self._scram[mechanism, name] = credential
        self._removed.discard((mechanism, name))

    def remove_scram(self, mechanism: ScramMechanism, name: str) -> bool:
        """Whether there was one."""
        there = self.scram(mechanism, name) is not None
        self._scram.pop((mechanism, name), None)
        self._removed.add((mechanism, name))
        return there
