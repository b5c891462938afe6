"""docs/guides/pipeline.md: its commands run on Spark, one of them on a cluster."""

import os
import re
from pathlib import Path

import pytest

from kafka_shim.pipeline.spark_requirements import missing_requirement
from tests.docs.shell import Shell
from tests.docs.shown import ROOT, Command
from tests.docs.test_commands import of, succeeds

PATIENCE_S = 300

pytestmark = [pytest.mark.spark, pytest.mark.heavy, pytest.mark.timeout(900)]


@pytest.mark.skipif(missing_requirement() is not None, reason=str(missing_requirement()))
def test_the_commands_of_the_page_work(shell: Shell, tmp_path: Path) -> None:
    found = of("docs/guides/pipeline.md")
    printed = {
        command.text: succeeds(shell, command, PATIENCE_S)
        for command in found
        if not is_for_a_cluster(command)
    }
    [submit] = filter(is_for_a_cluster, found)
    printed[submit.text] = on_a_cluster(shell, submit, tmp_path / "cluster")
    asked = [text for command, text in printed.items() if "what-breaks" in command]
    assert len(asked) == 2
    for text in asked:
        assert re.search(r"^\d+ accesses", text, re.MULTILINE), text


def is_for_a_cluster(command: Command) -> bool:
    return command.program == "spark-submit"


def on_a_cluster(shell: Shell, command: Command, folder: Path) -> str:
    """Return the command's output on the example's cluster of two workers, with its settings."""
    from examples.spark_cluster import SETTINGS, cluster, environment

    folder.mkdir()
    lines = [f"{name} {value}" for name, value in SETTINGS.items()]
    (folder / "spark-defaults.conf").write_text("\n".join(lines))
    variables = dict(environment().items() - os.environ.items())
    variables |= {"SPARK_CONF_DIR": str(folder), "PYTHONPATH": str(ROOT)}
    with cluster(folder) as address:
        shell.put({"spark://HOST:7077": address}, variables)
        return succeeds(shell, command, PATIENCE_S)
