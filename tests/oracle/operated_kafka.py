"""Real brokers, one or two, with TLS and every mechanism, which tests can stop and reconfigure."""

import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509 import load_pem_x509_certificate

from tests.oracle.real_kafka import CACHE, PASSWORDS, RealKafka, free_ports, jars, numbers

SOURCE = Path(__file__).parent / "java" / "Passwords.java"
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
STORE_PASSWORD = "store-secret"
COMPILING_SECONDS, STOPPING_SECONDS = 120, 60
TWO_FROM = (2, 4)
"""The first release in which leaders of partitions can be moved by a request (KIP-455)."""
_MODULES = "org.apache.kafka.common.security"


class OperatedKafka(RealKafka):
    """A real broker; with `beside`, it joins the cluster of that broker as the second one.

    Users log in with PLAIN (passwords in a file), with SCRAM if the release has a way to set its
    passwords, and with unsecured bearer tokens. With `has_tls` there are also listeners for SSL and
    SASL_SSL, whose certificate is signed by `authority`.
    """

    def __init__(
        self,
        release: str,
        mode: str,
        settings: Mapping[str, str],
        *,
        scram: bool = False,
        has_tls: bool = False,
        offload: "OperatedKafka | None" = None,
    ) -> None:
        super().__init__(release, mode, scram=scram, classpath=str(_password_classes(release)))
        self._has_ssl = has_tls
        self._beside = offload
        (self._sasl_ssl_port,) = free_ports(1)
        self.node_id = 1 if offload is None else 2
        self.authority = self.folder / "authority.pem"
        self._passwords = self.folder / "passwords.properties"
        if offload is not None:
            self._cluster_id = offload._cluster_id
            self._passwords = offload._passwords
        self.set_passwords(PASSWORDS)
        named = settings.get("sasl.enabled.mechanisms", ",".join(MECHANISMS)).split(",")
        mechanisms = [each for each in named if scram or not each.startswith("SCRAM")]
        self._settings = {
            **settings,
            "sasl.enabled.mechanisms": ",".join(mechanisms),
            **self._login_modules(),
            **(self._tls() if has_tls else {}),
        }

    def set_passwords(self, passwords: Mapping[str, str]) -> None:
        """Replace the passwords for PLAIN."""
        lines = (f"{name}={password}\n" for name, password in passwords.items())
        written = self._passwords.with_suffix(".new")
        written.write_text("".join(lines))
        written.rename(self._passwords)

    def listeners(self) -> dict[str, str]:
        found = super().listeners()
        if self._has_ssl:
            found["SASL_SSL"] = f"127.0.0.1:{self._sasl_ssl_port}"
        return found

    @property
    def has_tls(self) -> bool:
        return self._has_ssl

    @property
    def is_running(self) -> bool:
        return self._children[-1].poll() is None

    def shut_down(self) -> None:
        """Stop the broker gracefully: it hands its leaders over first."""
        broker = self._children[-1]
        broker.send_signal(signal.SIGTERM)
        broker.wait(STOPPING_SECONDS)

    def kill(self) -> None:
        """Stop the broker at once, as if its machine had failed."""
        broker = self._children[-1]
        broker.kill()
        broker.wait(STOPPING_SECONDS)

    def start_again(self, *, is_moved: bool = False) -> None:
        """Start the broker again after shut_down() or kill(), on other ports if `is_moved`."""
        self._children.pop()
        if is_moved:
            self.plain_port, self.sasl_port = free_ports(2)
            self.plain = f"127.0.0.1:{self.plain_port}"
            self.sasl = f"127.0.0.1:{self.sasl_port}"
            self._write_settings()
        self._start(jars(self.release))

    def _login_modules(self) -> dict[str, str]:
        found = {}
        for listener in ("sasl_plaintext", *(("sasl_ssl",) if self._has_ssl else ())):
            plain = f"listener.name.{listener}.plain.sasl."
            module = f'{_MODULES}.plain.PlainLoginModule required file="{self._passwords}";'
            found[f"{plain}jaas.config"] = module
            found[f"{plain}server.callback.handler.class"] = SOURCE.stem
            bearer = f"{_MODULES}.oauthbearer.OAuthBearerLoginModule required;"
            found[f"listener.name.{listener}.oauthbearer.sasl.jaas.config"] = bearer
        return found

    def _tls(self) -> dict[str, str]:
        """Return the settings for a new certificate, in a format that all releases can read."""
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(self.authority))
        made = authority.issue_cert("127.0.0.1", "localhost")
        key = load_pem_private_key(made.private_key_pem.bytes(), None)
        assert isinstance(key, EllipticCurvePrivateKey)
        first, *others = (load_pem_x509_certificate(pem.bytes()) for pem in made.cert_chain_pems)
        store = self.folder / "broker.p12"
        protection = BestAvailableEncryption(STORE_PASSWORD.encode())
        store.write_bytes(
            pkcs12.serialize_key_and_certificates(b"broker", key, first, others, protection)
        )
        return {
            "ssl.keystore.type": "PKCS12",
            "ssl.keystore.location": str(store),
            "ssl.keystore.password": STORE_PASSWORD,
            "ssl.key.password": STORE_PASSWORD,
        }

    def _kraft(self) -> dict[str, str]:
        if self._beside is None:
            return super()._kraft()
        return {
            **self._beside._kraft(),
            "listeners": self._common()["listeners"],
            "process.roles": "broker",
            "node.id": str(self.node_id),
        }

    def _with_zookeeper(self) -> dict[str, str]:
        if self._beside is None:
            return super()._with_zookeeper()
        return {**self._beside._with_zookeeper(), "broker.id": str(self.node_id)}

    def _start_zookeeper(self) -> None:
        if self._beside is None:
            super()._start_zookeeper()

    def _format(self, libs: Path) -> None:
        scram, self._scram = self._scram, self._scram and self._beside is None
        super()._format(libs)  # only the first broker stores the users' passwords
        self._scram = scram


def can_have_two(release: str) -> bool:
    """Return whether this release can run in a cluster of two here, with leaders that move."""
    found = numbers(release)
    return found >= TWO_FROM and not (3,) <= found < (3, 3)


def _password_classes(release: str) -> Path:
    """Return the folder with the class that reads passwords, compiled against a release."""
    folder = CACHE / release / "passwords"
    compiled = folder / f"{SOURCE.stem}.class"
    if not compiled.exists() or compiled.stat().st_mtime < SOURCE.stat().st_mtime:
        command = ["javac", "-d", str(folder), "-cp", f"{jars(release)}/*", str(SOURCE)]
        subprocess.run(command, check=True, timeout=COMPILING_SECONDS)
    return folder
