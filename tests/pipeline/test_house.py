"""The pipeline's layout: each job has a file with the definitions it needs."""

import io
from pathlib import Path

from kafka_shim.pipeline.jobs import JOBS, MODULES, import_job
from kafka_shim.pipeline.report.output import print_csv

FILES = Path(__file__).parents[2] / "src" / "kafka_shim" / "pipeline" / "jobs"


def test_each_file_of_a_job_is_listed() -> None:
    files = {path.stem for path in FILES.glob("*.py") if "\nJOB = Job(" in path.read_text()}
    assert files == set(MODULES)


def test_each_job_has_the_summary_of_its_module() -> None:
    for job, module in zip(JOBS, MODULES, strict=True):
        first = (FILES / f"{module}.py").read_text().splitlines()[0]
        assert first.startswith(f'"""`{job}`: '), module
        summary = import_job(job).summary
        assert summary
        assert not summary.endswith(".")


def test_lists_of_numbers_are_one_field_of_csv() -> None:
    written = io.StringIO()
    print_csv(["versions", "hosts"], [{"versions": [3, 12], "hosts": ["a", "b"]}], written)
    assert written.getvalue() == "versions,hosts\n3 12,a b\n"
