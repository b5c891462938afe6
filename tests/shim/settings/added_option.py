"""A program with more options in the table: it prints where they are found, as JSON.

It needs an interpreter of its own, since bodies and parsers are made when modules are imported.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_shim.shim.settings.options import CLUSTER, EVERYWHERE, OPTIONS, BrokerOption, Kind

if TYPE_CHECKING:
    from kafka_shim.shim.config import Config

ADDED = (
    BrokerOption(
        "fake_pause", Kind.INTEGER, CLUSTER, "Pause for MS milliseconds, which nobody needs",
        places=EVERYWHERE, metavar="MS", setting="shim.fake.pause.ms",
    ),
    BrokerOption(
        "fake_flag", Kind.FLAG, CLUSTER, "Pause always",
        places=EVERYWHERE, setting="shim.fake.flag",
    ),
    BrokerOption(
        "fake_name", Kind.TEXTS, CLUSTER, "Pause this client (repeatable)",
        places=EVERYWHERE, plural="fake_names", metavar="NAME", setting="shim.fake.names",
    ),
    BrokerOption(
        "fake_pair", Kind.PAIRS, CLUSTER, "Pause this client so long (repeatable)",
        places=EVERYWHERE, plural="fake_pairs", metavar="NAME=MS", separator="=",
        expected="NAME=MS", setting="shim.fake.pairs",
    ),
    BrokerOption(
        "retention", Kind.INTEGER, CLUSTER, "Retain records for MS milliseconds",
        places=EVERYWHERE, metavar="MS", setting="log.retention.ms",
    ),
)  # fmt: skip
OPTIONS.extend(ADDED)


def values(config: "Config") -> list[str | None]:
    return [config.properties.get(option.setting) for option in ADDED]


def with_arguments(
    *words: str, variables: Mapping[str, str] = {}, environ: Mapping[str, str] = {}
) -> list[str | None]:
    """Return the values of `kafka-shim serve` with these words, and variables of both kinds."""
    from kafka_shim.cli import serve
    from kafka_shim.shim.settings.configuration import config_from_arguments
    from kafka_shim.shim.settings.shim_variables import (
        reject_unknown_shim_variables,
        set_options_from_variables,
    )

    parser = argparse.ArgumentParser()
    serve.add_arguments(parser)
    args = parser.parse_args(words)
    reject_unknown_shim_variables(variables)
    set_options_from_variables(args, variables)
    return values(config_from_arguments(args, environ))


def errors(folder: Path) -> dict[str, str]:
    """Return what is reported about wrong values, and about misspelt names, by place."""
    from kafka_shim.shim.control.broker_bodies import NewBroker
    from kafka_shim.shim.control.broker_control import convert_body
    from kafka_shim.testing.in_process import _broker_from_arguments
    from kafka_shim.testing.settings import Settings

    file = folder / "wrong.yaml"

    def of_file(text: str) -> object:
        file.write_text(text)
        return with_arguments("--config", str(file))

    def of_keywords(**keywords: Any) -> object:
        return _broker_from_arguments(Settings(**keywords).serve_arguments(folder))

    calls: dict[str, Callable[[], object]] = {
        "file": lambda: of_file("fake-pause: soon"),
        "name in a file": lambda: of_file("fake-pauze: 1"),
        "variable": lambda: with_arguments(variables={"KAFKA_SHIM_FAKE_PAUSE": "soon"}),
        "flag": lambda: with_arguments(variables={"KAFKA_SHIM_FAKE_FLAG": "maybe"}),
        "name of a variable": lambda: with_arguments(variables={"KAFKA_SHIM_FAKE_PAUZE": "1"}),
        "keyword": lambda: of_keywords(fake_pause="soon"),
        "list": lambda: of_keywords(fake_names="a"),
        "name of a keyword": lambda: of_keywords(fake_pauze=1),
        "singular": lambda: of_keywords(fake_name=["a"]),
        "body": lambda: convert_body({"fake_pause": "soon"}, NewBroker),
        "key of the body": lambda: convert_body({"fake_pauze": 1}, NewBroker),
    }
    texts = {}
    for name, call in calls.items():
        try:
            texts[name] = f"no error: {call()}"
        except Exception as error:  # noqa: BLE001 - the test knows the texts
            texts[name] = str(error).removeprefix(f"--config {file}: ")
    return texts


def generated_files() -> dict[str, str]:
    from kafka_shim.cli.reference import BROKER_OPTIONS_PAGE, reference_pages
    from kafka_shim.testing.generate_options import options_source, typescript_source
    from tests.docs.generated_pages.http_api import http_api_page
    from tests.docs.generated_pages.pages import environment_page

    return {
        "types": options_source(),
        "declarations": typescript_source(),
        "page of options": reference_pages()[BROKER_OPTIONS_PAGE],
        "page of the HTTP API": http_api_page(),
        "page of variables": environment_page(),
    }


def main(folder: Path) -> None:
    from kafka_shim.shim.config import Config
    from kafka_shim.shim.control.broker_bodies import NewBroker
    from kafka_shim.shim.control.broker_control import convert_body
    from kafka_shim.shim.control.broker_registry import config_for_new_broker
    from kafka_shim.testing.in_process import _broker_from_arguments
    from kafka_shim.testing.settings import Settings

    words = ["--fake-pause", "0", "--fake-flag", "--fake-name", "a", "--fake-name", "b"]
    words += ["--fake-pair", "a=1", "--fake-pair", "b=2", "--retention", "1"]
    file = folder / "shim.yaml"
    file.write_text(
        "fake-pause: 22\nfake_flag: true\nfake-name: [c, d]\nfake-pair: {c: 3, d: 4}\n"
        "retention: 2\n"
    )
    config = ["--config", str(file)]
    variables = {
        "KAFKA_SHIM_FAKE_PAUSE": "33",
        "KAFKA_SHIM_FAKE_FLAG": "true",
        "KAFKA_SHIM_FAKE_NAMES": "e,f",
        "KAFKA_SHIM_FAKE_PAIRS": "e=5\nf=6",
        "KAFKA_SHIM_RETENTION": "3",
    }
    of_kafka = {"KAFKA_LOG_RETENTION_MS": "9"}
    keywords: dict[str, Any] = {
        "fake_pause": 44,
        "fake_flag": True,
        "fake_names": ["g", "h"],
        "fake_pairs": {"g": "7", "h": "8"},
        "retention": 4,
    }
    body = convert_body({**keywords, "fake_pause": 55}, NewBroker).values()
    of_fixture = _broker_from_arguments(Settings(**keywords).serve_arguments(folder))
    found = {
        "nowhere": with_arguments(),
        "command line": with_arguments(*words),
        "file": with_arguments(*config),
        "variable": with_arguments(variables=variables),
        "variable before file": with_arguments(*config, variables=variables),
        "command line before variable": with_arguments(*words, *config, variables=variables),
        "variable of Kafka before file": with_arguments(*config, environ=of_kafka),
        "command line before variable of Kafka": with_arguments(*words, environ=of_kafka),
        "keyword": values(of_fixture.cluster.config),
        "body": values(config_for_new_broker(body, Config())),
        "errors": errors(folder),
        **generated_files(),
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
