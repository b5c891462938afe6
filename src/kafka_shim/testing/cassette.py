"""A cassette as a test sees it: recorded traffic that is played instead of a broker."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kafka_shim.shim.settings.defaults import LISTENERS, PLAINTEXT, SASL_PLAINTEXT
from kafka_shim.testing.client_configs import ClientSecurity, client_config
from kafka_shim.testing.process import ServeProcess
from kafka_shim.testing.settings import SECRET
from kafka_shim.testing.transport import BrokerError

EXIT_MISMATCH = 3
"""That of the command line, whose import would take longer than this module's."""
STOP_S = 60
"""How long writing a recording may take."""


class KafkaCassette:
    """A cassette that clients connect to, in a process of its own."""

    def __init__(
        self,
        path: Path,
        *,
        mode: str,
        upstream: Sequence[str] = (),
        upstream_config: Sequence[Path] = (),
        users: Mapping[str, str] = {},
        masks: Sequence[str] = (),
        **options: Any,
    ) -> None:
        """Start playing or recording; docs/guides/cassettes.md has the options. Raise BrokerError
        if that is not possible.
        """
        if mode in ("none", "new-episodes") and not path.exists():
            raise BrokerError(
                f"{path} does not exist: record it with --kafka-cassette-upstream HOST:PORT"
            )
        self.path = path
        self._users = users
        repeated: list[tuple[str, Iterable[object]]] = [
            ("listener", [f"{name}://127.0.0.1:0" for name in LISTENERS]),
            ("user", [f"{name}:{password}" for name, password in users.items()]),
            ("mask", masks),
        ]
        if mode != "none":
            repeated += [("upstream", upstream), ("upstream-config", upstream_config)]
        options |= {"playback": path, "playback_mode": mode, "log_level": "error"}
        arguments = [f"--{name}={value}" for name, values in repeated for value in values]
        for name, value in options.items():
            option = f"--{name.replace('_', '-')}"
            if not isinstance(value, bool):
                arguments.append(f"{option}={value}")
            elif value:
                arguments.append(option)
        self._process = ServeProcess(
            lambda folder: [*arguments, f"--playback-report={folder / 'report.json'}"]
        )
        self._report: dict[str, Any] | None = None
        self.listeners: dict[str, str] = {
            name: ",".join(addresses) for name, addresses in self._process.listeners.items()
        }
        """The bootstrap servers by listener name."""

    @property
    def bootstrap_servers(self) -> str:
        """The bootstrap servers of the first listener, which needs no authentication."""
        return next(iter(self.listeners.values()))

    def config(
        self,
        user: str | None = None,
        style: str = "confluent-kafka",
        mechanism: str = "PLAIN",
        **more: Any,
    ) -> dict[str, Any]:
        """Return the settings with which a client connects, or authenticates as `user`.

        `style` selects the names of settings, as for `KafkaBroker.config`. `more` is added to the
        result.
        """
        name = PLAINTEXT if user is None else SASL_PLAINTEXT
        login = None
        if user is not None:
            login = mechanism, user, self._users.get(user) or SECRET.format(name=user)
        security = ClientSecurity(name, login, None)
        return client_config(style, self.listeners[name], security) | more

    def stop(self) -> dict[str, Any]:
        """Stop, and return the report of the playback; of a recording, write it and return {}.

        Raise BrokerError if the recording could not be written.
        """
        if self._report is None:
            code = self._process.end(STOP_S)
            log = self._process.log_text()
            path = self._process.folder / "report.json"
            text = path.read_text(encoding="utf-8") if path.exists() else "{}"
            self._process.remove_folder()
            self._report = json.loads(text)
            if code not in (0, EXIT_MISMATCH):
                raise BrokerError(
                    f"the cassette {self.path} has ended with exit code {code}:\n{log}"
                )
        return self._report

    def mismatches(self) -> list[str]:
        """End it; return the requests that were not recorded, as text."""
        failures: list[str] = self.stop().get("failures", [])
        return failures
