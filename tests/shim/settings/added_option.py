"""A program with one more option in the table: it prints where the option is found, as JSON.

It needs an interpreter of its own, since bodies and parsers are made when modules are imported.
"""

import argparse
import json
import sys
from pathlib import Path

from kafka_shim.shim.settings.options import CLUSTER, EVERYWHERE, OPTIONS, BrokerOption, Kind

SETTING = "shim.fake.pause.ms"
OPTIONS.append(
    BrokerOption(
        "fake_pause",
        Kind.INTEGER,
        CLUSTER,
        "Pause for MS milliseconds, which nobody needs",
        places=EVERYWHERE,
        metavar="MS",
        setting=SETTING,
    )
)


def main(folder: Path) -> None:
    from kafka_shim.cli import serve
    from kafka_shim.cli.reference import BROKER_OPTIONS_PAGE, reference_pages
    from kafka_shim.shim.config import Config
    from kafka_shim.shim.control.broker_bodies import NewBroker
    from kafka_shim.shim.control.broker_control import convert_body
    from kafka_shim.shim.control.new_broker import config_for_new_broker
    from kafka_shim.shim.settings.configuration import config_from_arguments
    from kafka_shim.shim.settings.shim_variables import (
        reject_unknown_shim_variables,
        set_options_from_variables,
    )
    from kafka_shim.testing.generate_options import options_source, typescript_source
    from kafka_shim.testing.in_process import _broker_from_arguments
    from kafka_shim.testing.settings import Settings
    from tests.docs.generated_pages.http_api import http_api_page
    from tests.docs.generated_pages.variables import environment_page

    def parse(*words: str) -> argparse.Namespace:
        parser = argparse.ArgumentParser()
        serve.add_arguments(parser)
        return parser.parse_args(words)

    def value(config: Config) -> str | None:
        return config.properties.get(SETTING)

    file = folder / "shim.yaml"
    file.write_text("fake-pause: 22\n")
    variables = {"KAFKA_SHIM_FAKE_PAUSE": "33"}

    def with_variables(*words: str) -> str | None:
        args = parse(*words)
        reject_unknown_shim_variables(variables)
        set_options_from_variables(args, variables)
        return value(config_from_arguments(args, {}))

    body = convert_body({"fake_pause": 55}, NewBroker).values()
    keywords = Settings(fake_pause=44).serve_arguments(folder)  # type: ignore[call-arg]
    found = {
        "command line": value(config_from_arguments(parse("--fake-pause", "11"), {})),
        "file": value(config_from_arguments(parse("--config", str(file)), {})),
        "variable": with_variables(),
        "variable before file": with_variables("--config", str(file)),
        "command line before variable": with_variables("--fake-pause", "11"),
        "keyword": value(_broker_from_arguments(keywords).cluster.config),
        "body": value(config_for_new_broker(body, Config())),
        "types": options_source(),
        "declarations": typescript_source(),
        "page of options": reference_pages()[BROKER_OPTIONS_PAGE],
        "page of the HTTP API": http_api_page(),
        "page of variables": environment_page(),
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
