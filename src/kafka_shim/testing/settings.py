"""The settings of a test's broker, and its command line."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from kafka_shim.shim.settings.defaults import (
    ADMIN,
    HOST,
    LISTENERS,
    PLAINTEXT,
    SASL_PLAINTEXT,
    SUPER_USERS,
)
from kafka_shim.shim.settings.options import (
    TLS_DIRECTORY,
    BrokerOption,
    Kind,
    Place,
    options_of_place,
)
from kafka_shim.testing.options import Options
from kafka_shim.testing.rule import json_rules
from kafka_shim.testing.setup_warnings import warn_about_acls_of_file
from kafka_shim.testing.transport import BrokerError
from kafka_shim.testing.unknown_name import check_option_names
from kafka_shim.text.message_text import sanitize_message

SECRET = "{name}-secret"  # noqa: S105 - of test users, to be guessed on purpose
STARTUP_TIMEOUT_S = 30.0
SSL = "SSL"
SASL_SSL = "SASL_SSL"

_DEFAULTS: Options = {"super_users": SUPER_USERS, "log_level": "warn"}
_STATE_KEYWORDS = frozenset({"topics", "users", "super_users", "state"})
"""Keywords that become the state file of the broker."""


class Settings:
    """The keywords of a broker, checked, as options of `kafka-shim serve`.

    By default clients that do not log in may do everything, and so may `User:admin`; users that log
    in may do what ACLs allow.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        check_option_names(options)
        given_options = {name: value for name, value in options.items() if value is not None}
        self._options: dict[str, Any] = {**_DEFAULTS, **given_options}
        self._check_list_types()
        self.uses_tls = bool(self._options.get("tls"))
        names = (*LISTENERS, SSL, SASL_SSL) if self.uses_tls else LISTENERS
        self._options.setdefault("listeners", [f"{name}://{HOST}:0" for name in names])
        self.properties: Mapping[str, str] = self._options.get("properties", {})
        self.startup_timeout: float = self._options.get("startup_timeout", STARTUP_TIMEOUT_S)
        state = self._options.get("state")
        self._state_from_file = {} if state is None else _read_state(_absolute_path(state))

    def _check_list_types(self) -> None:
        """Raise a TypeError for values that would be mistaken: a text is a list of letters."""
        for option in options_of_place(Place.KEYWORD):
            name, value = option.key, self._options.get(option.key)
            if value is None:
                continue
            if option.kind in (Kind.TEXTS, Kind.TOPICS) and isinstance(value, str):
                raise TypeError(f"{name} is the string {value!r}: expected a list")
            if option.kind is Kind.PAIRS and not isinstance(value, Mapping):
                raise TypeError(f"{name} is {value!r}: expected a mapping")
        version = self._options.get("kafka_version", "")
        if not isinstance(version, str):
            raise TypeError(
                f"kafka_version is {version!r}: expected a string, as in '3.9';"
                " as a number, 3.10 would be 3.1"
            )

    def initial_passwords(self) -> dict[str, str]:
        """Return the passwords of users who can log in from the start."""
        admin = {ADMIN: SECRET.format(name=ADMIN)}
        return {
            **admin,
            **(self._state_from_file.get("users") or {}),
            **self._options.get("users", {}),
        }

    def certificate_folder(self, folder: Path) -> Path | None:
        """Return the folder with `ca.pem`; `folder` is the broker's own.

        Return None without generated certificates.
        """
        tls = self._options.get("tls")
        chosen_folder = self._options.get("tls_dir") or self.properties.get(TLS_DIRECTORY)
        if tls and not isinstance(tls, bool):
            chosen_folder = tls
        if chosen_folder is not None:
            return _absolute_path(chosen_folder)
        return folder / "tls" if tls else None

    def security_protocol_of(self, listener: str) -> str:
        """Return the security protocol of a listener; the default is its name."""
        pairs = self.properties.get("listener.security.protocol.map", "").split(",")
        named = {
            name.strip(): protocol for name, _, protocol in (pair.partition(":") for pair in pairs)
        }
        return named.get(listener, listener).strip().upper()

    def preferred_security_protocols(self, user: str | None) -> tuple[str, str]:
        """Return the security protocols that a client of this user can take, the best first."""
        plain, tls = (PLAINTEXT, SSL) if user is None else (SASL_PLAINTEXT, SASL_SSL)
        return (tls, plain) if self.uses_tls else (plain, tls)

    def accepts_client_certificate(self, listener: str) -> bool:
        """Return whether clients of a listener can, or must, have a certificate."""
        general = self.properties.get("ssl.client.auth", "none")
        own = self.properties.get(f"listener.name.{listener.lower()}.ssl.client.auth", general)
        return own != "none"

    def serve_arguments(self, folder: Path) -> list[str]:
        """Return the options of `kafka-shim serve`; files that they need are put into `folder`."""
        values = {name: self._options[name] for name in self._options.keys() - _STATE_KEYWORDS}
        certificate_folder = self.certificate_folder(folder)
        if certificate_folder is not None:
            values["tls_dir"] = certificate_folder
        if self._acl_file is None:
            values.pop("acls", None)  # they are in the state
        serve_arguments = ["--state", str(self._write_state_file(folder))]
        for option in options_of_place(Place.KEYWORD | Place.COMMAND_LINE):
            if option.key in values:
                serve_arguments += _serve_arguments(option, values[option.key])
        return serve_arguments

    def warn_about_acls_of_file(self) -> None:
        """Warn at the caller's line about ACLs of a file that have no effect."""
        if self._acl_file is not None:
            super_users = self._options["super_users"]
            warn_about_acls_of_file(self._acl_file, self.release, super_users)

    def initial_rules(self) -> list[dict[str, Any]]:
        """Return the ACLs that the test itself lists."""
        rules = () if self._acl_file is not None else self._options.get("acls", ())
        return json_rules(*rules)

    @property
    def uses_acls(self) -> bool:
        """Return whether ACLs decide, and not a class of the user, or nobody."""
        return bool(self._options.get("authorizer", "standard") == "standard")

    @property
    def has_state_file(self) -> bool:
        """Return whether a state file sets the broker up, possibly with faults."""
        return "state" in self._options

    @property
    def release(self) -> str | None:
        """The Kafka release that the broker behaves as; None: the newest."""
        return self._options.get("kafka_version")

    @property
    def _acl_file(self) -> str | os.PathLike[str] | None:
        acls = self._options.get("acls")
        return acls if isinstance(acls, str | os.PathLike) else None

    def _write_state_file(self, folder: Path) -> Path:
        """Write the initial state: the keywords, added to the given state file."""
        given_options = self._state_from_file
        content = given_options | {
            "topics": _topics_by_name(given_options.get("topics"))
            | _topics_by_name(self._options.get("topics")),
            "users": self.initial_passwords(),
            "super_users": [
                *self._options["super_users"],
                *(given_options.get("super_users") or ()),
            ],
            "acls": [
                *(given_options.get("acls") or ()),
                *self.initial_rules(),
            ],
        }
        path = folder / "state.yaml"
        path.write_text(
            _state_as_yaml(content) if given_options else json.dumps(content), encoding="utf-8"
        )
        return path


def _serve_arguments(option: BrokerOption, value: Any) -> list[str]:
    """Return the words of the command line for an option."""
    if option.kind is Kind.FLAG:
        return [option.option] if value else []
    if option.kind is Kind.PAIRS:
        value = [f"{name}{option.separator}{text}" for name, text in value.items()]
    if option.kind in (Kind.FILE, Kind.PATH, Kind.ACLS):
        value = _absolute_path(value)
    values = value if option.kind.is_repeatable else [value]
    return [word for each in values for word in (option.option, str(each))]


def _read_state(path: Path) -> dict[str, Any]:
    """Read a state file. Raise BrokerError if a broker could not read it."""
    from kafka_shim.policy.formats.documents import load_document  # noqa: PLC0415 - as above
    from kafka_shim.shim.errors import ConfigError  # noqa: PLC0415 - as above
    from kafka_shim.shim.settings.state_file import read_state_file  # noqa: PLC0415 - as above
    from kafka_shim.text.input_files import read_text_file  # noqa: PLC0415 - as above

    try:
        read_state_file(str(path), "state")
        return dict(load_document(read_text_file(str(path), "state")) or {})
    except ConfigError as error:
        raise BrokerError(sanitize_message(str(error))) from error


def _state_as_yaml(content: Mapping[str, Any]) -> str:
    """Return YAML, in which keys may be numbers, unlike in JSON."""
    import yaml  # noqa: PLC0415 - only a state file needs it

    return str(yaml.safe_dump(content, allow_unicode=True))


def _absolute_path(path: str | os.PathLike[str]) -> Path:
    """Return an absolute path, since the broker runs in another folder."""
    return Path(path).absolute()


def _topics_by_name(topics: Any) -> dict[str, Any]:
    """Return topics as a mapping; None is a topic with the defaults."""
    if topics is None or isinstance(topics, Mapping):
        return dict(topics or {})
    return dict.fromkeys(topics)
