"""`--remote`: jobs on a Spark Connect server whose workers do not have kafka-shim."""

import random
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline import cli
from kafka_shim.pipeline.spark_requirements import missing_requirement
from kafka_shim.policy.formats import format_acls_losslessly
from tests.pipeline.asking import parsed
from tests.pipeline.stage_log import STAGES_MAX, logged_stages, logging_settings
from tests.pipeline.traces import made, random_acls, random_trace

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]
PIPELINE = (sys.executable, "-P", "-m", "kafka_shim", "pipeline")
WORKERS_NEED = ("pyarrow", "pandas", "numpy", "dateutil", "pytz", "tzdata", "six", "crc32c")
needs_client = pytest.mark.skipif(
    missing_requirement(is_remote=True) is not None, reason="needs gRPC and Java"
)


@contextmanager
def serving(folder: Path, *packages: str) -> Iterator[str]:
    """Start a server whose workers' Python has only these packages; yield its address."""
    from examples.spark_connect import server

    home = folder / "python"
    venv.create(home, symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    target = home / "lib" / version / "site-packages"
    for package in packages:
        source = Path(sys.modules.get(package, __import__(package)).__file__ or "")
        source = source.parent if source.stem == "__init__" else source
        for path in source.parent.glob(f"{package}*"):
            (target / path.name).symlink_to(path)
    settings = logging_settings(folder / "events")
    with server(folder, str(home / "bin" / "python"), settings) as address:
        yield address


def printed(jobs: list[list[str]], *where: str) -> str:
    """Run the jobs in one command; return what they print."""
    words: list[str] = []
    for job in jobs:
        words += [*(["--then"] if words else []), *job, "--json", *where]
    done = subprocess.run(
        [*PIPELINE, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_client
@pytest.mark.heavy
def test_jobs_return_the_same_on_a_server(tmp_path: Path) -> None:
    rng = random.Random(1)
    acls = random_acls(rng, 30)
    authorizer = StandardAuthorizer(super_users=["User:root"], store=AclStore(acls))
    trace, candidate = str(made(tmp_path / "trace")), str(tmp_path / "acls.yaml")
    random_trace(tmp_path / "trace", rng, authorizer, 300)
    Path(candidate).write_text(format_acls_losslessly(acls[4:], "yaml"))
    jobs = [
        ["denials", trace],
        ["what-breaks", trace, "--acls", candidate],
        ["unused-acls", trace, "--acls", candidate],
        ["least-acls", trace],
        ["clients", trace],
        ["timeline", trace],
        ["readiness", trace, "--from-release", "3.9", "--to-release", "4.0"],
        ["diff", trace, trace],
        ["damage", trace],
        ["report", trace],
    ]
    with serving(tmp_path, "msgspec", *WORKERS_NEED) as address:
        remote = printed(jobs, "--remote", address)
        before = logged_stages(tmp_path / "events")
        printed(jobs[1:2], "--remote", address)
        assert 0 < logged_stages(tmp_path / "events") - before <= STAGES_MAX
    assert remote == printed(jobs, "--engine", "spark")


@needs_client
@pytest.mark.heavy
def test_packages_that_workers_lack_are_reported(tmp_path: Path) -> None:
    trace = str(made(tmp_path / "trace"))
    with serving(tmp_path, *WORKERS_NEED) as address:
        done = subprocess.run(
            [*PIPELINE, "denials", trace, "--remote", address],
            capture_output=True,
            text=True,
            check=False,
        )
    [line] = done.stderr.splitlines()
    text, _, log = line.partition("; more in ")
    Path(log).unlink()
    assert text.endswith(
        "(install msgspec into the Python of Spark's workers, or set PYSPARK_PYTHON to one that has"
        " it)"
    )


@needs_client
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("denials", "--remote", "sc://127.0.0.1:1"), "cannot connect: Connection refused"),
        (("denials", "--remote", "127.0.0.1:1"), "expected sc://HOST:PORT"),
        (("watch", "--remote", "sc://127.0.0.1:1"), "watch does not run on a Spark Connect server"),
    ],
)
def test_an_unusable_server_is_reported(
    words: tuple[str, ...], problem: str, tmp_path: Path, capsys: Any
) -> None:
    code = 1 if "cannot connect" in problem else 2
    assert cli.run(parsed(words[0], str(made(tmp_path)), *words[1:])) == code
    assert problem in capsys.readouterr().err
