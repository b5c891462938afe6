"""Credentials: passwords for PLAIN, salted keys for SCRAM (RFC 5802, KIP-84)."""

import random
from collections.abc import Callable, Mapping

from kafka_shim.shim.config import OTHER_LISTENERS, passwords_of_listener
from kafka_shim.shim.sasl.scram_credential import (
    ScramCredential,
    ScramMechanism,
    credential_of_password,
)
from kafka_shim.shim.state.state_change import ChangeAction, ChangeObserver, StateChange

UserKey = tuple[ScramMechanism | None, str]
"""The mechanism of a stored credential, None for the password, and the user's name."""


class Users:
    """All credentials.

    Configured users can log in with every mechanism. Like the users in a broker's JAAS file, the
    credential APIs neither return nor change them. Their SCRAM keys are computed at their first
    authentication, since 4096 iterations take milliseconds.
    """

    def __init__(
        self,
        passwords: Mapping[str, str],
        rng: random.Random,
        listener_passwords: Mapping[str, Mapping[str, str]] = {},
    ) -> None:
        self._passwords = dict(passwords)
        self._listener_passwords = {
            listener: dict(own) for listener, own in listener_passwords.items()
        }
        self._random = rng
        self._configured: dict[tuple[ScramMechanism, str, str], ScramCredential] = {}
        self._stored: dict[tuple[ScramMechanism, str], ScramCredential] = {}
        self.when_changed: Callable[[UserKey], None] = lambda _: None
        """Called with the key of a changed password or stored credential."""
        self.observe_change: ChangeObserver | None = None
        """Called after a user has changed, if it is set."""

    @property
    def passwords(self) -> Mapping[str, str]:
        """Name to password, of the users of all listeners."""
        return self._passwords

    def passwords_of_listener(self, listener: str) -> Mapping[str, str]:
        """Return name to password of the users who can authenticate on a listener."""
        return passwords_of_listener(listener, self._passwords, self._listener_passwords)

    def configured_names(self) -> set[str]:
        """Return the users with a password on any listener."""
        return {*self._passwords}.union(*self._listener_passwords.values())

    def names(self) -> list[str]:
        """Return the users with a password or a stored credential, sorted."""
        return sorted(self.configured_names().union(self.names_with_stored_credentials()))

    def set_configured_user(self, name: str, password: str) -> None:
        """Add a user for every mechanism and listener, or replace the password."""
        is_known = name in self.configured_names()
        self._drop_configured_user(name)
        self._passwords[name] = password
        self.when_changed((None, name))
        self._report_change("changed" if is_known else "added", name, "password")

    def remove_configured_user(self, name: str) -> None:
        """Remove a configured user; an unknown one is no error."""
        is_known = name in self.configured_names()
        self._drop_configured_user(name)
        self.when_changed((None, name))
        if is_known:
            self._report_change("removed", name, "password")

    def _drop_configured_user(self, name: str) -> None:
        for passwords in (self._passwords, *self._listener_passwords.values()):
            passwords.pop(name, None)
        for key in [key for key in self._configured if key[1] == name]:
            del self._configured[key]

    def _report_change(self, action: ChangeAction, name: str, credential: str) -> None:
        if self.observe_change is not None:
            before = None if action == "added" else credential
            after = None if action == "removed" else credential
            self.observe_change(StateChange("user", action, name, before, after))

    def scram_credential(
        self, mechanism: ScramMechanism, name: str, listener: str = OTHER_LISTENERS
    ) -> ScramCredential | None:
        """Return the credential of an authentication on a listener; a stored one takes
        precedence over the configuration.
        """
        if (mechanism, name) in self._stored:
            return self._stored[mechanism, name]
        key = mechanism, name, listener
        if key not in self._configured:
            password = self.passwords_of_listener(listener).get(name)
            if password is None:
                return None
            salt = self._random.randbytes(24)
            self._configured[key] = credential_of_password(mechanism, password, salt)
        return self._configured[key]

    def names_with_stored_credentials(self) -> list[str]:
        """Users with at least one stored credential, sorted."""
        return sorted({name for _, name in self._stored})

    def stored_credential(self, mechanism: ScramMechanism, name: str) -> ScramCredential | None:
        """Return the stored credential of a user; None if there is none."""
        return self._stored.get((mechanism, name))

    def stored_credentials(self, name: str) -> list[tuple[ScramMechanism, ScramCredential]]:
        """Return the stored credentials of a user, by mechanism."""
        keys = [(mechanism, name) for mechanism in ScramMechanism]
        return [(key[0], self._stored[key]) for key in keys if key in self._stored]

    def store_credential(
        self, mechanism: ScramMechanism, name: str, credential: ScramCredential
    ) -> None:
        is_known = (mechanism, name) in self._stored
        self._stored[mechanism, name] = credential
        self.when_changed((mechanism, name))
        self._report_change("changed" if is_known else "added", name, mechanism.wire_name)

    def remove_stored_credential(self, mechanism: ScramMechanism, name: str) -> bool:
        """Remove a stored credential; return whether there was one."""
        self.when_changed((mechanism, name))
        if self._stored.pop((mechanism, name), None) is None:
            return False
        self._report_change("removed", name, mechanism.wire_name)
        return True
