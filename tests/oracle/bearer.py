"""Record how a real broker takes bearer tokens: `python -m tests.oracle.bearer 4.3.1`.

Writes tests/shim/sasl/bearer_recorded.json. Needs Java 17 and Maven.
"""

import json
import sys
import tempfile
from pathlib import Path

from tests.oracle.real_kafka import JWKS_URL, RealKafka
from tests.shim.sasl import bearer_cases

RECORDED = Path(bearer_cases.__file__).with_name("bearer_recorded.json")
MECHANISM = "listener.name.sasl_plaintext.oauthbearer."
PACKAGE = "org.apache.kafka.common.security.oauthbearer"


def settings(jwks_url: str | None) -> dict[str, str]:
    """What a real broker is told to take tokens, signed ones if there are keys."""
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
    recorded = {}
    with tempfile.TemporaryDirectory() as folder:
        keys = Path(folder) / "keys.json"
        keys.write_text(bearer_cases.key_set())
        for name, (cases, has_keys, more) in bearer_cases.SETS.items():
            told = {**settings(keys.as_uri() if has_keys else None), **more}
            with RealKafka(release, settings=told) as kafka:
                recorded[name] = {
                    title: bearer_cases.outcome(kafka.sasl, case) for title, case in cases.items()
                }
    lines = ",\n".join(
        f"  {json.dumps(name)}: {{\n"
        + ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in answers.items())
        + "\n  }"
        for name, answers in recorded.items()
    )
    RECORDED.write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main(sys.argv[1])
