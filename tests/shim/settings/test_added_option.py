"""A row in the table of options is all that an option needs, to be found in every place."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str | None]:
    """Return what the program finds that has one more row."""
    command = [sys.executable, "-m", "tests.shim.settings.added_option"]
    folder = tmp_path_factory.mktemp("added")
    done = subprocess.run(
        [*command, str(folder)], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("command line", "11"),
        ("file", "22"),
        ("variable", "33"),
        ("variable before file", "33"),
        ("command line before variable", "11"),
        ("keyword", "44"),
        ("body", "55"),
    ],
)
def test_the_value_reaches_the_configuration(
    found: Mapping[str, str | None], place: str, value: str
) -> None:
    assert found[place] == value


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("types", "    fake_pause: int | None\n"),
        ("declarations", "  fakePause?: number;\n"),
        ("page of options", "### `--fake-pause`\n"),
        ("page of the HTTP API", "| `fake_pause` | integer or null | Pause for MS milliseconds"),
        ("page of variables", "| `KAFKA_SHIM_FAKE_PAUSE` | Pause for MS milliseconds"),
    ],
)
def test_generated_files_have_it(found: Mapping[str, str | None], page: str, text: str) -> None:
    assert text in str(found[page])
