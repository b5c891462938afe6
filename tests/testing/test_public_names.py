"""Users import `kafka_shim.testing`; importing `kafka_shim` alone imports nothing else."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import kafka_shim
from kafka_shim import testing
from kafka_shim.testing import KafkaBroker, start


def imported_by(statement: str) -> set[str]:
    code = f"import sys; before = set(sys.modules); {statement}; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_package_imports_nothing() -> None:
    assert imported_by("import kafka_shim") == {"kafka_shim"}


def test_kafka_shim_testing_imports_the_standard_library_only() -> None:
    loaded = imported_by("from kafka_shim.testing import start")
    others = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    assert others == {"kafka_shim"}
    ours = {name for name in loaded if name.startswith("kafka_shim.shim.")}
    beyond = {name for name in ours if not name.startswith("kafka_shim.testing")}
    assert beyond <= {
        "kafka_shim.shim.settings",
        "kafka_shim.shim.settings.defaults",
        "kafka_shim.shim.settings.options",
    }


def test_short_names_are_the_same_objects() -> None:
    assert testing.start is start
    assert testing.KafkaBroker is KafkaBroker
    for name in testing.__all__:
        assert hasattr(testing, name), name


def test_the_version_is_that_of_the_distribution() -> None:
    assert kafka_shim.__version__ == version("kafka-shim")
    with pytest.raises(AttributeError, match="no attribute 'versoin'"):
        _ = kafka_shim.versoin  # type: ignore[attr-defined]  # on purpose
