"""SCRAM credentials, which a server stores instead of a password (RFC 5802, KIP-84)."""

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
    """A stored SCRAM credential, with which nobody can log in elsewhere."""

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes


def credential_of_salted_password(
    mechanism: ScramMechanism, salted_password: bytes, salt: bytes, iterations: int
) -> ScramCredential:
    """Return the credential of a salted password, which AlterUserScramCredentials sends."""
    import hashlib  # noqa: PLC0415 - most brokers have no users, and these take 2 % of the start
    import hmac  # noqa: PLC0415 - as above

    client_key = hmac.digest(salted_password, b"Client Key", mechanism.digest)
    return ScramCredential(
        salt,
        iterations,
        hashlib.new(mechanism.digest, client_key).digest(),
        hmac.digest(salted_password, b"Server Key", mechanism.digest),
    )


def credential_of_password(
    mechanism: ScramMechanism, password: str, salt: bytes, iterations: int = ITERATIONS
) -> ScramCredential:
    """Return the credential of a password, or of a delegation token's HMAC."""
    import hashlib  # noqa: PLC0415 - as above

    salted = hashlib.pbkdf2_hmac(mechanism.digest, password.encode(), salt, iterations)
    return credential_of_salted_password(mechanism, salted, salt, iterations)
