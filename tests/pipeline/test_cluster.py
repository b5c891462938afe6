"""A job on a standalone cluster of two workers has the same result as a local one."""

import json
import random
from pathlib import Path

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline.package import PACKAGES
from kafka_shim.pipeline.spark_requirements import missing_requirement
from kafka_shim.policy.formats import format_acls_losslessly
from tests.pipeline import twin
from tests.pipeline.stage_log import STAGES_MAX, logged_stages, logging_settings
from tests.pipeline.traces import random_acls, random_trace

pytestmark = [pytest.mark.spark, pytest.mark.heavy, pytest.mark.timeout(900)]


@pytest.mark.skipif(missing_requirement() is not None, reason=str(missing_requirement()))
def test_both_workers_work_with_the_packages_that_were_sent(tmp_path: Path) -> None:
    from examples.spark_cluster import WORKERS, cluster, submit

    rng = random.Random(1)
    acls = random_acls(rng, 30)
    authorizer = StandardAuthorizer(super_users=["User:root"], store=AclStore(acls))
    for _ in range(4):
        random_trace(tmp_path / "trace", rng, authorizer, 500)
    candidate = tmp_path / "candidate.yaml"
    candidate.write_text(format_acls_losslessly(acls[4:], "yaml"))
    words = ["what-breaks", str(tmp_path / "trace"), "--acls", str(candidate), "--json"]
    with cluster(tmp_path) as address:
        done = submit(address, tmp_path, words, logging_settings(tmp_path / "events"))
    assert done.returncode == 0, done.stderr
    assert 0 < logged_stages(tmp_path / "events") <= STAGES_MAX
    found = json.loads(done.stdout[done.stdout.index("{") :])  # skip notes of spark-submit
    key = ("change", "principal", "operation", "resource_type", "resource_name")
    rows = {tuple(row[name] for name in key): row["requests"] for row in found["rows"]}
    assert rows == twin.what_breaks(twin.accesses(tmp_path / "trace"), acls[4:], ("User:root",))
    for number in range(1, WORKERS + 1):
        executors = [path for path in (tmp_path / f"w{number}").glob("app-*/*") if path.is_dir()]
        assert executors, f"worker {number} had nothing to do"
        unpacked = executors[0] / "kafka-shim" / "kafka_shim"
        assert all((unpacked / name / "__init__.py").exists() for name in PACKAGES)
