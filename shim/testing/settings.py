"""What a test's broker is started with, and the command line that says so."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ADMIN = "admin"
ANYBODY = "User:ANONYMOUS"
SECRET = "{name}-secret"  # noqa: S105 - of test users, to be guessed on purpose
PLAINTEXT = "PLAINTEXT"
SASL_PLAINTEXT = "SASL_PLAINTEXT"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The configuration of `kafka_broker_factory`.

    By default whoever does not log in may do everything, and so may `User:admin`; users that log in
    may do what ACLs allow. `topics` are names, or names with partitions; `users` names with
    passwords; `acls` rules of the state file; `properties` settings by Kafka's names.
    """

    kafka_version: str | None = None
    topics: Mapping[str, Any] | Sequence[str] = ()
    users: Mapping[str, str] = field(default_factory=dict)
    acls: Sequence[Mapping[str, Any]] = ()
    super_users: Sequence[str] = (ANYBODY, f"User:{ADMIN}")
    listeners: Sequence[str] = (f"{PLAINTEXT}://127.0.0.1:0", f"{SASL_PLAINTEXT}://127.0.0.1:0")
    authorizer: str = "standard"
    brokers: int = 1
    seed: int | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    manual_clock: bool = False
    log_level: str = "warn"

    def __post_init__(self) -> None:
        """TypeError for what would be taken for something else: a text is letters one by one."""
        for name in "topics", "acls", "super_users", "listeners":
            if isinstance(getattr(self, name), str):
                raise TypeError(f"{name} is the text {getattr(self, name)!r}: expected a list")
        for name in "users", "properties":
            if not isinstance(getattr(self, name), Mapping):
                raise TypeError(f"{name} is {getattr(self, name)!r}: expected a mapping")
        if not isinstance(self.kafka_version, str | None):
            raise TypeError(
                f"kafka_version is {self.kafka_version!r}: expected a text, as in '3.9';"
                " as a number, 3.10 would be 3.1"
            )

    @property
    def passwords(self) -> dict[str, str]:
        """Of those who can log in from the start."""
        return {ADMIN: SECRET.format(name=ADMIN), **self.users}

    def words(self, folder: Path) -> list[str]:
        """The options of `kafka-shim serve`; what is in a file is put into `folder`."""
        state = folder / "state.json"
        state.write_text(json.dumps(self._state()), encoding="utf-8")
        words = ["--state", str(state), "--brokers", str(self.brokers)]
        words += ["--authorizer", self.authorizer, "--log-level", self.log_level]
        for listener in self.listeners:
            words += ["--listener", listener]
        for key, value in self.properties.items():
            words += ["-c", f"{key}={value}"]
        if self.kafka_version is not None:
            words += ["--kafka-version", self.kafka_version]
        if self.seed is not None:
            words += ["--seed", str(self.seed)]
        if self.manual_clock:
            words.append("--manual-clock")
        return words

    def _state(self) -> dict[str, Any]:
        topics = self.topics
        return {
            "topics": dict(topics) if isinstance(topics, Mapping) else list(topics),
            "users": self.passwords,
            "super_users": list(self.super_users),
            "acls": [with_type(rule) for rule in self.acls],
        }


def with_type(rule: Mapping[str, Any]) -> dict[str, Any]:
    """A rule whose principal may be a bare name: `alice` is `User:alice`."""
    if not isinstance(rule, Mapping):
        raise TypeError(f"a rule is {rule!r}: expected a mapping with principal, allow, topic ...")
    found = dict(rule)
    principal = found.get("principal")
    if isinstance(principal, str):
        found["principal"] = principal_of(principal)
    return found


def principal_of(name: str) -> str:
    return name if ":" in name else f"User:{name}"
