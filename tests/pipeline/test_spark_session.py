"""The Spark session of a command: its settings, its heap, and the address of Spark's UI."""

import json
import os
import random
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from tests.pipeline.asking import parsed
from tests.pipeline.traces import random_acls, random_trace
from tests.support.checked_folders import PIPELINE

pytestmark = [PIPELINE, pytest.mark.spark, pytest.mark.timeout(300)]
MIB = 1 << 20


def test_a_command_has_its_settings_and_shows_its_ui_while_it_runs(
    spark: Any, tmp_path: Path
) -> None:
    rng = random.Random(1)
    random_trace(
        tmp_path, rng, StandardAuthorizer(store=AclStore(random_acls(rng, 5))), requests=20
    )
    words = ["pipeline", "watch", str(tmp_path), "--from-start"]
    words += ["--conf", "spark.ui.enabled=true", "--conf", "spark.sql.shuffle.partitions=3"]
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "kafka_shim", *words],
        env={name: value for name, value in os.environ.items() if name != "SPARK_DRIVER_MEMORY"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            assert running.stderr is not None
            lines = iter(running.stderr.readline, "")
            address = next(
                found[1] for line in lines if (found := re.match(r"Spark's UI: (http\S+)", line))
            )
            (application,) = read_json(f"{address}/api/v1/applications")
            page = f"{address}/api/v1/applications/{application['id']}/environment"
            settings = dict(read_json(page)["sparkProperties"])
        finally:
            running.terminate()
    assert settings["spark.sql.shuffle.partitions"] == "3"
    half = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2 // MIB
    assert settings["spark.driver.memory"] == f"{min(max(half, 1024), 31 * 1024)}m"


def read_json(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=60) as page:
        return json.load(page)


@pytest.mark.parametrize(
    ("machine_gib", "heap_mib"), [(1, 1024), (8, 4096), (23, 11776), (256, 31 * 1024)]
)
def test_the_heap_is_half_of_the_memory_within_limits(
    machine_gib: int, heap_mib: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafka_shim.pipeline.spark import session

    monkeypatch.delenv("SPARK_DRIVER_MEMORY", raising=False)
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": machine_gib << 18}
    monkeypatch.setattr("os.sysconf", sizes.__getitem__)
    settings = session._local_settings(2, without_optimising_compiler=True)
    assert settings["spark.driver.memory"] == f"{heap_mib}m"
    monkeypatch.setenv("SPARK_DRIVER_MEMORY", "3g")
    settings = session._local_settings(2, without_optimising_compiler=True)
    assert "spark.driver.memory" not in settings


def test_there_is_no_option_for_delta(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        parsed("denials", "trace", "--delta", "folder")
    assert "unrecognized arguments: --delta" in capsys.readouterr().err
