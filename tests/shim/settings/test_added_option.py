"""A row in the table of options is all that an option needs, to be found in every place."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


OF_COMMAND_LINE = ["0", "true", "a,b", "a=1,b=2", "1"]
OF_FILE = ["22", "true", "c,d", "c=3,d=4", "2"]
OF_VARIABLES = ["33", "true", "e,f", "e=5,f=6", "3"]
OF_KEYWORDS = ["44", "true", "g,h", "g=7,h=8", "4"]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """Return what the program finds that has five more rows."""
    command = [sys.executable, "-m", "tests.shim.settings.added_option"]
    folder = tmp_path_factory.mktemp("added")
    done = subprocess.run(
        [*command, str(folder)], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize(
    ("place", "values"),
    [
        ("nowhere", [None] * 5),
        ("command line", OF_COMMAND_LINE),
        ("file", OF_FILE),
        ("variable", OF_VARIABLES),
        ("variable before file", OF_VARIABLES),
        ("command line before variable", OF_COMMAND_LINE),
        ("variable of Kafka before file", [*OF_FILE[:-1], "9"]),
        ("command line before variable of Kafka", OF_COMMAND_LINE),
        ("keyword", OF_KEYWORDS),
        ("body", ["55", *OF_KEYWORDS[1:]]),
    ],
)
def test_the_value_reaches_the_configuration(
    found: Mapping[str, Any], place: str, values: list[str | None]
) -> None:
    assert found[place] == values


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("types", "    fake_pause: int | None\n"),
        ("types", "    fake_pairs: Mapping[str, str] | None\n"),
        ("declarations", "  fakePause?: number;\n"),
        ("page of options", "### `--fake-pause`\n"),
        ("page of the HTTP API", "| `fake_pause` | integer or null | Pause for MS milliseconds"),
        ("page of variables", "| `KAFKA_SHIM_FAKE_PAUSE` | Pause for MS milliseconds"),
    ],
)
def test_generated_files_have_it(found: Mapping[str, Any], page: str, text: str) -> None:
    assert text in found[page]


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("file", "line 1: --fake-pause: invalid value `soon`; expected a whole number"),
        ("name in a file", "line 1: unknown key `fake-pauze`; did you mean `fake-pause`?"),
        ("variable", "KAFKA_SHIM_FAKE_PAUSE: --fake-pause: invalid value `soon`; expected a"),
        ("flag", "KAFKA_SHIM_FAKE_FLAG `maybe`: expected true or false"),
        (
            "name of a variable",
            "variable `KAFKA_SHIM_FAKE_PAUZE`; did you mean `KAFKA_SHIM_FAKE_PAU",
        ),
        ("keyword", "--fake-pause: invalid value `soon`; expected a whole number"),
        ("list", "fake_names is the string 'a': expected a list"),
        ("name of a keyword", "unknown keyword `fake_pauze`; did you mean `fake_pause`?"),
        ("singular", "unknown keyword `fake_name`; did you mean `fake_names`?"),
        ("body", "`int | null`, got `str`"),
        ("key of the body", "unknown key `fake_pauze`; did you mean `fake_pause`?"),
    ],
)
def test_wrong_values_and_misspelt_names_are_reported(
    found: Mapping[str, Any], place: str, text: str
) -> None:
    assert text in found["errors"][place]
