"""Calls the command line of the pipeline in this process."""

import argparse
import json
from typing import Any

from kafka_shim.pipeline import cli


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    return parser.parse_args(words)


def response(capsys: Any, *words: str) -> dict[str, Any]:
    assert cli.run(parsed(*words, "--json")) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found
