"""The contents of a plain install, and the errors without an extra."""

import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from kafka_shim.text import extras

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PLAIN = {"msgspec", "crc32c", "structlog", "yaml"}

WITHOUT_OTHERS = f"""\
import sys

class Others:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in {PLAIN | {"kafka_shim", "_yaml"}!r} and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Others())
from kafka_shim.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""Runs kafka-shim with an import hook that hides all packages except those of a plain install."""


def said(extra: str, monkeypatch: pytest.MonkeyPatch, found: list[str] | None) -> str:
    """Return the command to install an extra if the distribution has these requirements.

    None: the distribution is not installed.
    """

    def requires(_: str) -> list[str]:
        if found is None:
            raise metadata.PackageNotFoundError
        return found

    monkeypatch.setattr(metadata, "requires", requires)
    extras.install_command.cache_clear()
    try:
        return extras.install_command(extra)
    finally:
        extras.install_command.cache_clear()


def test_the_packages_of_an_extra_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ["a>=1", "b>=2; extra == 'x'", 'c>=3,<4 ; extra == "x"', "d; extra == 'xx'"]
    assert said("x", monkeypatch, found) == f'{sys.executable} -m pip install "b>=2" "c>=3,<4"'


def test_the_packages_of_an_included_extra_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ["kafka-shim[y]; extra == 'x'", "b>=2; extra == 'x'", "c; extra == 'y'"]
    assert said("x", monkeypatch, found) == f'{sys.executable} -m pip install "c" "b>=2"'


def test_sources_that_are_not_installed_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said("x", monkeypatch, None) == f'{sys.executable} -m pip install -e "{ROOT}[x]"'


def test_a_python_in_a_folder_with_spaces_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/my tools/python")
    assert said("x", monkeypatch, ["b; extra == 'x'"]) == '"/my tools/python" -m pip install "b"'


def test_every_extra_that_the_code_names_has_packages() -> None:
    package = ROOT / "src" / "kafka_shim"
    paths = [path for path in package.rglob("*.py") if path != package / "text" / "extras.py"]
    named = {
        extra
        for path in paths
        for extra in re.findall(r'\brequires\([^()]+, "(\w+)"\)', path.read_text())
    }
    assert named == {
        "capture", "completion", "compression", "connect", "control", "local", "mcp", "oauth",
        "pipeline", "pytest", "regex", "testcontainers", "tls",
    }  # fmt: skip
    assert named <= set(PROJECT["optional-dependencies"])
    wrong = [path for path in paths if re.search(r"pip install", path.read_text())]
    assert not wrong, "install commands in messages must come from kafka_shim.text.extras"


def test_a_plain_install_needs_four_packages() -> None:
    names = {re.split(r"[<>=]", requirement)[0].lower() for requirement in PROJECT["dependencies"]}
    assert names == {"msgspec", "crc32c", "structlog", "pyyaml"}


def test_the_extra_all_has_every_other_one_but_three() -> None:
    """DuckDB has no wheels for Alpine, which `all` is installed on; containers need Docker."""
    extras_of_project = PROJECT["optional-dependencies"]
    (named,) = re.findall(r"\[(.+)\]", extras_of_project["all"][0])
    included = set(named.split(",")) | {"pipeline"}  # part of `connect`
    assert included == set(extras_of_project) - {"all", "demo", "local", "testcontainers"}


def test_a_broker_starts_with_nothing_but_a_plain_install(tmp_path: Path) -> None:
    """The broker also records, and names the missing extra."""
    (tmp_path / "plain.py").write_text(WITHOUT_OTHERS)
    client = f'{sys.executable} -P plain.py acls --bootstrap-server "$KAFKA_BOOTSTRAP_SERVERS"'
    asks = f"{client} --add --allow-principal User:a --operation Read --topic t && {client} --list"
    done = plain(tmp_path, "run", "--authorizer", "standard", "--super-user", "User:ANONYMOUS",
                 "--record", "trace", "--", "sh", "-c", asks)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "principal=User:a" in done.stdout
    shown = plain(tmp_path, "trace", "info", "trace")
    assert "CreateAcls" in shown.stdout, shown.stderr
    refused = plain(tmp_path, "run", "--record", "t", "--record-compression", "zstd", "--", "true")
    assert "requires the extra `compression`" in refused.stderr


OPTIONAL_MODULES = (
    *("snappy", "lz4", "zstandard", "cryptography", "trustme", "joserfc", "pyspark", "pyarrow"),
    *("pandas", "grpc", "grpc_status", "dpkt", "starlette", "uvicorn", "prometheus_client"),
    *("shtab", "jsonschema", "confluent_kafka", "mcp"),
)

WITHOUT_EXTRAS = f"""\
import sys

for name in {OPTIONAL_MODULES!r}:
    sys.modules[name] = None
"""
"""Hides the packages of all extras, and nothing else."""

CONTROL = "--control 127.0.0.1:0"
SASL = "--listener SASL_PLAINTEXT://127.0.0.1:0 -c sasl.enabled.mechanisms=OAUTHBEARER"
TLS = "--listener SSL://127.0.0.1:0"
OAUTH = f"""
    {SASL} -c sasl.oauthbearer.expected.audience=x
    -c sasl.oauthbearer.jwks.endpoint.url=file:///keys.json
"""
PROXY = "proxy --upstream 127.0.0.1:1 --record recorded"


@pytest.mark.parametrize(
    ("words", "feature", "extra"),
    [
        (f"serve {CONTROL}", "--control", "control"),
        (f"run {CONTROL} -- true", "--control", "control"),
        (f"serve {TLS} --tls-dir tls", "--tls-dir", "tls"),
        (f"run {TLS} --tls-dir tls -- true", "--tls-dir", "tls"),
        (f"conformance run {TLS} --tls-dir tls --client-command true", "--tls-dir", "tls"),
        (f"least-acls {TLS} --tls-dir tls -- true", "--tls-dir", "tls"),
        (f"{PROXY} --tls-dir tls", "--tls-dir", "tls"),
        (f"{PROXY} --tls-config broker.properties", "the PKCS12 store `x.p12`", "tls"),
        (f"serve {TLS} --config broker.properties", "the PKCS12 store `x.p12`", "tls"),
        (f"serve {OAUTH}", "checking signed tokens", "oauth"),
        ("serve --record q --record-compression zstd", "--record-compression zstd", "compression"),
        ("run --record q --record-compression zstd -- true", "--record-compression zstd",
         "compression"),
        (f"{PROXY} --record-compression zstd", "--record-compression zstd", "compression"),
        ("trace import --input-format request-log log.zst new", "reading zstd", "compression"),
        ("trace import --input-format pcap x.p12 new", "importing a network capture", "capture"),
        ("trace export recorded --format pcap --out x", "--format pcap", "capture"),
        ("pipeline denials recorded", "analysis of traces", "local"),
        ("pipeline ingest recorded --out lake", "analysis on Spark", "pipeline"),
        ("pipeline denials recorded --remote sc://x", "a Spark Connect server", "connect"),
        ("completion bash", "kafka-shim completion", "completion"),
        ("mcp", "`kafka-shim mcp`", "mcp"),
    ],
)  # fmt: skip
def test_a_missing_extra_is_a_usage_error_that_names_the_extra(
    tmp_path: Path, words: str, feature: str, extra: str
) -> None:
    """Every command and option that needs an optional package, without any of them."""
    (tmp_path / "plain.py").write_text(
        f"{WITHOUT_EXTRAS}from kafka_shim.cli import main\nsys.exit(main(sys.argv[1:]))\n"
    )
    (tmp_path / "broker.properties").write_text("ssl.keystore.location=x.p12\n")
    (tmp_path / "x.p12").write_bytes(b"\0")
    (tmp_path / "log.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / "broker-1-00000000.ktrace").write_bytes(b"")
    done = plain(tmp_path, *words.split())
    assert done.returncode == 2, done.stderr
    assert f": {feature} requires the extra `{extra}`" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_the_fixture_without_its_extra_names_it(tmp_path: Path) -> None:
    """The broker of a test needs the packages of the extra `control`, which `pytest` includes."""
    (tmp_path / "conftest.py").write_text(
        WITHOUT_EXTRAS + 'pytest_plugins = ["kafka_shim.testing.pytest_plugin"]\n'
    )
    (tmp_path / "test_fixture.py").write_text("def test_it(kafka_broker): ...\n")
    arguments = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:kafka_shim")
    done = subprocess.run(
        [sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert "requires the extra `pytest`" in done.stdout, done.stdout
    assert '"starlette' in done.stdout


def test_testcontainers_without_its_extra_names_it(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(
        "import sys\nsys.modules['testcontainers'] = None\n"
        "import kafka_shim.testing.testcontainers\n"
    )
    done = plain(tmp_path)
    assert "kafka_shim.testing.testcontainers requires the extra `testcontainers`" in done.stderr


def plain(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "plain.py", *words],
        cwd=folder, env=os.environ, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
