"""Record how a real broker handles bearer tokens: `python -m tests.oracle.bearer 4.4.0`.

Writes tests/shim/sasl/bearer_recorded.json. Needs Java 17 and Maven.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.oracle.real_kafka import JWKS_URL, RealKafka
from tests.shim.sasl import bearer_cases

RECORDED = Path(bearer_cases.__file__).with_name("bearer_recorded.json")
MECHANISM = "listener.name.sasl_plaintext.oauthbearer."
PACKAGE = "org.apache.kafka.common.security.oauthbearer"


def settings(jwks_url: str | None) -> dict[str, str]:
    """Return settings to accept bearer tokens: signed ones with a JWKS URL, otherwise unsecured."""
    found = {
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        f"{MECHANISM}sasl.jaas.config": f"{PACKAGE}.OAuthBearerLoginModule required;",
    }
    if jwks_url is not None:
        validator = f"{PACKAGE}.OAuthBearerValidatorCallbackHandler"
        found[f"{MECHANISM}sasl.server.callback.handler.class"] = validator
        found[JWKS_URL] = jwks_url
    return found


def main(release: str) -> None:
    recorded: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        keys = Path(folder) / "keys.json"
        keys.write_text(bearer_cases.key_set())
        for name, (cases, has_keys, more) in bearer_cases.SETS[release].items():
            told = {**settings(keys.as_uri() if has_keys else None), **more}
            with RealKafka(release, settings=told) as kafka:
                recorded[name] = {
                    title: bearer_cases.outcome(kafka.sasl, case) for title, case in cases.items()
                }
        recorded[bearer_cases.STARTS] = {
            name: _starts(release, {**settings(keys.as_uri()), **more})
            for name, more in bearer_cases.IMPOSSIBLE.items()
        }
    known = json.loads(RECORDED.read_text()) | {release: recorded}
    RECORDED.write_text(_lines(known))


def _starts(release: str, told: Mapping[str, str]) -> bool:
    try:
        with RealKafka(release, settings=told):
            return True
    except (RuntimeError, subprocess.CalledProcessError):
        return False


def _lines(recorded: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """Return the JSON of a recording, with one response on each line."""
    releases = []
    for release, sets in recorded.items():
        blocks = []
        for name, responses in sets.items():
            rows = [f"    {json.dumps(key)}: {json.dumps(told)}" for key, told in responses.items()]
            blocks.append(f"  {json.dumps(name)}: {{\n{_joined(rows)}\n  }}")
        releases.append(f"{json.dumps(release)}: {{\n{_joined(blocks)}\n}}")
    return f"{{\n{_joined(releases)}\n}}\n"


def _joined(lines: Iterable[str]) -> str:
    return ",\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1])
