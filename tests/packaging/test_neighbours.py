"""kafka-shim, installed from its wheel, beside packages named like its folders."""

import zipfile
from pathlib import Path

import pytest

from tests.packaging.installed import ROOT, Built, Environment, install, run, works

NAMES = ("shim", "protocol", "schemas", "authorizer", "pipeline")

pytestmark = [
    pytest.mark.folders(
        "tests/packaging", "pyproject.toml", "hatch_build.py", "src/kafka_shim/testing"
    ),
    pytest.mark.slow,
    pytest.mark.timeout(600, func_only=True),
]


def project(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_has_one_top_level_name(built: Built) -> None:
    own = f"kafka_shim-{built.wheel.name.split('-')[1]}"
    found = contents(built.wheel)
    assert {name.partition("/")[0] for name in found} == {
        "kafka_shim", f"{own}.dist-info", f"{own}.data"
    }  # fmt: skip
    offload = [name for name in found if name.startswith(f"{own}.data/")]
    assert offload == [f"{own}.data/data/share/man/man1/kafka-shim.1"]


def test_a_wheel_from_a_checkout_without_links_is_whole(
    environment: Environment, built: Built, tmp_path: Path
) -> None:
    """Git for Windows checks out links as text files; the wheel must not depend on them."""
    sources = ROOT / "src" / "kafka_shim"
    expected = {
        f"kafka_shim/{path.relative_to(sources).as_posix()}" for path in sources.rglob("*.py")
    }
    assert expected <= contents(built.wheel).keys()
    command = (environment.python, "-P", "-m", "kafka_shim", "--version")
    assert works(run(*command, cwd=tmp_path)).startswith("kafka-shim ")


def test_the_sdist_has_no_links_and_builds_the_same_wheel(built: Built) -> None:
    assert contents(built.again) == contents(built.wheel)


USES_SHIM = """
import shim


def test_own_package():
    assert shim.NAME == "the user's"


def test_fixture(kafka_broker):
    kafka_broker.topics.create("orders")
    assert kafka_broker.health().status == "ok"
"""


def test_a_project_with_a_package_named_shim(environment: Environment, tmp_path: Path) -> None:
    project(tmp_path, {"shim/__init__.py": 'NAME = "the user\'s"', "test_it.py": USES_SHIM})
    assert "2 passed" in works(environment.pytest(tmp_path))


FAILS = """
import authorizer
from confluent_kafka import Producer


def test_denied(kafka_broker):
    kafka_broker.topics.create("orders")
    errors = []
    producer = Producer(kafka_broker.config(authorizer.USER))
    producer.produce("orders", b"one", on_delivery=lambda error, _: errors.append(error))
    producer.flush(30)
    assert str(errors[0]) == "no error"


def test_allowed(kafka_broker):
    assert kafka_broker.denials() == []
"""


def test_a_failing_test_beside_a_package_named_authorizer(
    environment: Environment, tmp_path: Path
) -> None:
    project(tmp_path, {"authorizer/__init__.py": 'USER = "alice"', "test_it.py": FAILS})
    done = environment.pytest(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    assert "INTERNALERROR" not in done.stdout + done.stderr
    assert "User:alice was denied DESCRIBE on TOPIC orders" in done.stdout


USES_ALL = f"""
import importlib
import pytest


@pytest.mark.parametrize("name", {NAMES!r})
def test_own_module(name):
    assert importlib.import_module(name).NAME == name


@pytest.mark.parametrize("kafka_broker", [{{"in_process": True}}, {{}}], indirect=True)
def test_fixture(kafka_broker):
    kafka_broker.topics.create("orders")
    assert kafka_broker.state().topics[0].name == "orders"
"""


@pytest.mark.parametrize(
    ("form", "options"),
    [("{}.py", []), ("{}/__init__.py", ["-p", "xdist", "-n", "1"])],
    ids=["modules", "packages, with xdist"],
)
def test_all_names_at_once_on_the_path(
    environment: Environment, tmp_path: Path, form: str, options: list[str]
) -> None:
    own = {form.format(name): f"NAME = {name!r}" for name in NAMES}
    project(tmp_path, own | {"tests/test_it.py": USES_ALL})
    done = environment.pytest(tmp_path, *options, "tests", more={"PYTHONPATH": str(tmp_path)})
    assert "7 passed" in works(done)


PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "a-pipeline"
version = "1"
[tool.hatch.build]
dev-mode-dirs = ["src"]
[tool.hatch.build.targets.wheel]
packages = ["src/pipeline"]
"""

USES_PIPELINE = """
import pipeline


def test_own_package(kafka_broker):
    assert pipeline.NAME == "the user's"
"""


def test_an_editable_project_with_a_package_named_pipeline(
    environment: Environment, tmp_path: Path
) -> None:
    files = {"pyproject.toml": PYPROJECT, "src/pipeline/__init__.py": 'NAME = "the user\'s"'}
    project(tmp_path, files | {"tests/test_it.py": USES_PIPELINE})
    install(environment, "--editable", str(tmp_path))
    assert "1 passed" in works(environment.pytest(tmp_path, "tests"))


def test_a_distribution_with_a_package_named_schemas(
    environment: Environment, tmp_path: Path
) -> None:
    foreign = PYPROJECT.replace("pipeline", "schemas")
    project(
        tmp_path,
        {"pyproject.toml": foreign, "src/schemas/__init__.py": "raise RuntimeError('not this')"},
    )
    install(environment, str(tmp_path))
    assert (environment.site_packages / "schemas" / "__init__.py").exists()
    said = works(run(environment.python, "-m", "kafka_shim", "--version", cwd=tmp_path))
    assert said.startswith("kafka-shim ")
    code = "from kafka_shim.testing import start; print(start().health().status)"
    assert works(run(environment.python, "-c", code, cwd=tmp_path)) == "ok\n"


def test_the_command_beside_a_folder_named_protocol(
    environment: Environment, tmp_path: Path
) -> None:
    project(tmp_path, {"protocol/__init__.py": "raise RuntimeError('not this one')"})
    command = environment.folder / "bin" / "kafka-shim"
    options = ("run", "--listener", "PLAINTEXT://127.0.0.1:0", "--", "true")
    works(run(command, *options, cwd=tmp_path, more={"PYTHONPATH": "."}))
    module = (environment.python, "-m", "kafka_shim", *options)
    works(run(*module, cwd=tmp_path, more={"PYTHONPATH": "."}))
