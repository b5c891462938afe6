"""The test kit for authorizers: its tests, the commands of its pages, and known authorizers."""

import os
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.clients.toolchains import CACHE, need
from tests.docs.shown import ROOT, blocks, commands
from tests.language_packages.built import PACKAGES
from tests.language_packages.test_manifests import POM, VERSION
from tests.oracle.authorizer_rules.__main__ import STANDARD, kit_command
from tests.oracle.authorizer_rules.known_authorizers import (
    KNOWN,
    PAGE,
    Known,
    report,
    section,
    table_row,
)
from tests.oracle.authorizer_rules.rule_table import NAMED_RULES
from tests.oracle.real_kafka import jars

PACKAGE = PACKAGES / "authorizer-tck"
GUIDE = "docs/guides/authorizer-tck.md"
README = "packages/authorizer-tck/README.md"
BROKEN = 3

takes_minutes = pytest.mark.timeout(1800, func_only=True)


def run(command: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=os.environ | variables, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


def test_the_version_is_that_of_the_project() -> None:
    assert ET.parse(PACKAGE / "pom.xml").getroot().findtext(f"{POM}version") == VERSION
    assert f"kafka-authorizer-tck-{VERSION}.jar" in (ROOT / GUIDE).read_text()


def test_the_guide_names_all_rules() -> None:
    text = (ROOT / GUIDE).read_text()
    assert [rule.name for rule in NAMED_RULES if f"`{rule.name}`" not in text] == []
    assert f"tries {len(NAMED_RULES)} rules" in text
    assert f"tries {len(NAMED_RULES)} rules" in (PACKAGE / "README.md").read_text()


def test_the_test_on_the_package_s_page_is_that_of_the_example() -> None:
    [shown] = [block.text for block in blocks() if block.page == README]
    file = "example/src/test/java/plugin/StandardAuthorizerTest.java"
    assert (PACKAGE / file).read_text() == shown


@pytest.mark.heavy
@takes_minutes
def test_wrong_authorizers_are_named() -> None:
    need("the test kit for authorizers", "java", "mvn")
    done = run("mvn -B -ntp test", PACKAGE)
    assert done.returncode == 0, done.stdout
    assert "Tests run: 33, Failures: 0, Errors: 0, Skipped: 0" in done.stdout


@pytest.mark.heavy
@takes_minutes
def test_the_commands_of_the_guide(tmp_path: Path) -> None:
    need("the test kit for authorizers", "java", "mvn")
    make, example = [each.text for each in commands() if each.page == GUIDE]
    built = run(make, ROOT, DIST=str(tmp_path / "dist"))
    assert built.returncode == 0, built.stderr
    assert run("mvn -B -ntp -q test-compile", PACKAGE).returncode == 0
    (tmp_path / "kafka").mkdir()
    (tmp_path / "kafka" / "libs").symlink_to(jars("4.4.0"))
    (tmp_path / "plug-in").symlink_to(PACKAGE / "target" / "test-classes")
    done = run(example, tmp_path)
    assert done.returncode == BROKEN, done.stderr
    [shown] = [block.text for block in blocks() if block.page == GUIDE]
    assert done.stdout.startswith(shown)


@pytest.mark.heavy
@takes_minutes
def test_a_real_mistake_of_the_command_line_is_explained() -> None:
    need("the test kit for authorizers", "java", "mvn")
    for wrong, text in (
        (["--class", "org.x.Missing"], "the class path lacks org.x.Missing"),
        (["--class", "java.lang.String"], "java.lang.String does not implement org.apache.kafka"),
        (["--rule", "none"], "unknown rule none"),
        (["--release", "1.0"], "unknown release 1.0"),
        (["--colour"], "unknown option --colour"),
    ):
        done = subprocess.run(
            kit_command(STANDARD, "4.4.0", *wrong), capture_output=True, text=True, check=False
        )
        assert (done.returncode, text in done.stderr) == (2, True), done.stderr


@pytest.mark.heavy
@takes_minutes
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: f"{known.title}, {known.release}")
def test_known_authorizers_are_as_on_the_page(known: Known) -> None:
    """`python -m tests.oracle.authorizer_rules.known_authorizers` writes the page."""
    need("the test kit for authorizers", "java", "mvn", "curl")
    found, page = report(known), PAGE.read_text()
    assert table_row(known, found) in page
    assert "".join(section(known, found)) in page


@pytest.mark.heavy
@takes_minutes
def test_the_vectors_on_a_real_broker() -> None:
    need("the test kit for authorizers", "java", "mvn")
    command = kit_command(STANDARD, "4.4.0", "--with-broker", str(ROOT))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1444 vectors: 1444 equal" in done.stdout


@pytest.mark.heavy
@takes_minutes
def test_the_package_s_page_before_a_release(tmp_path: Path) -> None:
    """The command installs the kit, and all rules hold in the test of the example."""
    need("the test kit for authorizers", "java", "mvn")
    [install] = [each.text for each in commands() if each.page == README]
    (tmp_path / "kafka-shim").symlink_to(ROOT)
    (tmp_path / "orders").mkdir()
    variables = {"DIST": str(tmp_path / "dist"), "MAVEN_ARGS": f"-Dmaven.repo.local={CACHE / 'm2'}"}
    done = run(install, tmp_path / "orders", **variables)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "dist").iterdir()] == [
        f"kafka-authorizer-tck-{VERSION}.jar"
    ]
    project = shutil.copytree(
        PACKAGE / "example", tmp_path / "plugin", ignore=shutil.ignore_patterns("target")
    )
    done = run("mvn -B -ntp test $MAVEN_ARGS", project, **variables)
    assert f"Tests run: {len(NAMED_RULES)}, Failures: 0, Errors: 0, Skipped: 0" in done.stdout
