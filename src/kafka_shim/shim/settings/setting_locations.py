"""Finds the line of a configuration file that an error is about, by the setting that it names."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

_SETTING_NAME: Final = (
    r"[a-z][a-z0-9_]*(?:[.-][a-zA-Z0-9_]+)+|listeners(?=:)|listener(?= `)|(?<=--)[a-z-]+"
)
_QUOTED_VALUE: Final = "`[^`]*`"
_LISTENERS: Final = ("listeners", "listener", "listener.security.protocol.map")
_TOKENS: Final = ("sasl.oauthbearer.jwks.endpoint.url", "sasl.enabled.mechanisms")
_SETTINGS_THAT_NEED: Final[Mapping[str, Sequence[str]]] = {
    "ssl.keystore.location": ("ssl.keystore.type", *_LISTENERS),
    "sasl.oauthbearer.expected.audience": _TOKENS,
    "sasl.oauthbearer.expected.issuer": _TOKENS,
    "sasl.jaas.config": ("sasl.mechanism", "security.protocol"),
}
"""For a setting that an error calls missing: those that make it necessary, the nearest first."""


class SettingLocations:
    """The lines of the settings of one file; `file` is what its errors begin with, such as
    `--config broker.properties`.

    The names of options, as in YAML, count as settings. `line_of_setting` returns 0 if the file
    has no such line. Errors about `overridden` settings are not about the file.
    """

    def __init__(
        self,
        file: str,
        names: Collection[str],
        line_of_setting: Callable[[str], int],
        overridden: Collection[str] = (),
    ) -> None:
        self._file = file
        self._names = names
        self._line_of_setting = line_of_setting
        self._overridden = overridden

    def add_location(self, error_text: str) -> str:
        """Return the text with file and line before it, if it names a setting of the file."""
        prefix = f"{self._file}: "
        problem = error_text.removeprefix(prefix)
        if problem.startswith("line "):
            return error_text
        setting = self._first_named_setting(problem)
        if setting is not None:
            line = self._line_of_setting(setting)
            return f"{prefix}line {line}: {problem}" if line else f"{prefix}{problem}"
        if missing := self._named_missing_settings(problem):
            line = self._line_requiring_setting(missing)
            return f"{prefix}line {line}: {problem}" if line else f"{prefix}{problem}"
        return error_text

    def _first_named_setting(self, text: str) -> str | None:
        """Return the first setting of the file that the text names, with or without the prefix of
        a listener.
        """
        for match in re.finditer(_SETTING_NAME, text):
            for name in self._names:
                is_named = name == match[0] or (
                    name.startswith("listener.name.") and name.endswith(f".{match[0]}")
                )
                if is_named and name not in self._overridden:
                    return name
        return None

    def _line_requiring_setting(self, missing: Collection[str]) -> int:
        """Return the line of the setting that makes a missing one necessary; 0 if unknown."""
        needing = [name for key in sorted(missing) for name in _SETTINGS_THAT_NEED.get(key, ())]
        return next((self._line_of_setting(name) for name in needing if name in self._names), 0)

    def _named_missing_settings(self, text: str) -> set[str]:
        """Return the broker settings that the text names, outside of values, and that are not
        set.
        """
        from kafka_shim.shim.state.settings.config_definitions import (  # noqa: PLC0415 - only for errors
            known_setting_names,
        )

        names = set(re.findall(_SETTING_NAME, re.sub(_QUOTED_VALUE, "", text)))
        return names & known_setting_names() - set(self._overridden)
