"""The packages for other languages, as their READMEs say, in new folders."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.clients.test_examples import logging_command, run
from tests.clients.toolchains import CACHE
from tests.docs.shown import ROOT, commands
from tests.language_packages.built import PACKAGES, install_jars, npm_tarball, use_module
from tests.language_packages.test_manifests import VERSION

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900, func_only=True)]


def readme_commands(package: str) -> list[str]:
    return [shown.text for shown in commands() if shown.page == f"packages/{package}/README.md"]


def copied_example(path: str, folder: Path) -> Path:
    built = shutil.ignore_patterns("node_modules", "target")
    return Path(shutil.copytree(PACKAGES / path, folder / Path(path).name, ignore=built))


def succeed(command: str, project: Path, **variables: str) -> str:
    """Run a command, expect success, and return what it printed, without colours."""
    done = run(["bash", "-e", "-c", command], project, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return re.sub(r"\x1b\[[\d;]*m", "", done.stdout)


@pytest.mark.parametrize("runner", ["node-test", "jest@29", "jest@30", "vitest@2", "vitest@4"])
def test_npm(runner: str, tmp_path: Path) -> None:
    """`npm install` gets the package from its packed file, and the tests pass."""
    name, _, version = runner.partition("@")
    project = copied_example(f"npm/examples/{name}", tmp_path)
    manifest = (project / "package.json").read_text()
    chosen, count = re.subn(rf'("{name}": "\^)[\d.]+', rf"\g<1>{version}.0.0", manifest)
    assert count == bool(version)
    (project / "package.json").write_text(chosen)
    log = tmp_path / "log"
    variables = {"KAFKA_SHIM_BINARY": str(logging_command(tmp_path, log))}
    install, _, _, shared = readme_commands("npm")
    succeed(install.replace(" kafka-shim ", f" {npm_tarball(tmp_path)} "), project)
    printed = succeed("npm test 2>&1", project, **variables)
    assert re.search(r"pass 2|Tests: +2 passed|Tests +2 passed", printed), printed
    if runner == "node-test":
        assert re.search("pass 2", succeed(shared, project, **variables))
        return
    assert log.read_text().count("broker created") == 2


@pytest.mark.skipif(sys.platform != "linux", reason="the binary is that of Linux, a script")
def test_built_packages_bring_the_binary(tmp_path: Path) -> None:
    """`.ci/build-packages` builds what is published; npm and Maven find the binary in it."""
    log, dist = tmp_path / "log", tmp_path / "dist"
    variables = {"DIST": str(dist), "MAVEN_ARGS": f"-Dmaven.repo.local={CACHE / 'm2'}"}
    binary = logging_command(tmp_path, log)
    succeed(f"{ROOT}/.ci/build-packages linux-x64={binary}", tmp_path, **variables)
    assert sorted(path.name for path in dist.iterdir()) == [
        f"kafka-authorizer-tck-{VERSION}.jar",
        f"kafka-shim-{VERSION}.tgz",
        f"kafka-shim-junit5-{VERSION}-linux-x86_64.jar",
        f"kafka-shim-junit5-{VERSION}.jar",
        f"kafka-shim-linux-x64-{VERSION}.tgz",
    ]
    succeed(f"{ROOT}/.ci/try-packages {dist}", tmp_path, **variables)
    assert log.read_text().count("broker created") == 1 + 4


FAULTS_TS = """
import type { ApiName, Broker, ErrorName } from "kafka-shim";
const error: ErrorName = "NOT_LEADER_OR_FOLLOWER";
const api: ApiName = "Produce";
export const fail = (broker: Broker) => broker.addFault({ action: { error }, match: { api } });
"""


def test_types(tmp_path: Path) -> None:
    """TypeScript accepts the example, and reports misspelt names."""
    project = copied_example("npm/examples/vitest", tmp_path)
    packages = f"{npm_tarball(tmp_path)} kafkajs@2.2.4 vitest@3 typescript@5 @types/node@22"
    succeed(f"npm install --silent --no-audit --no-fund {packages}", project)
    check = "npx tsc --noEmit --strict --skipLibCheck --module nodenext --target es2022 *.ts"
    succeed(check, project)
    (project / "faults.ts").write_text(FAULTS_TS)
    succeed(check, project)
    for name in ("NOT_LEADER_OR_FOLLOWER", "Produce"):
        (project / "faults.ts").write_text(FAULTS_TS.replace(name, name + "X"))
        assert run(["bash", "-c", check], project).returncode != 0, name
    (project / "faults.ts").unlink()
    example = project / "orders.test.ts"
    right = example.read_text()
    for word, wrong in ("topics:", "themes:"), ('"Write"', '"Wrote"'), (".records(", ".record("):
        example.write_text(right.replace(word, wrong))
        assert run(["bash", "-c", check], project).returncode != 0, wrong


def test_go(tmp_path: Path) -> None:
    """The tests run against the module of this repository."""
    project = copied_example("go/example", tmp_path)
    use_module(project)
    log = tmp_path / "log"
    command = logging_command(tmp_path, log)
    shared = readme_commands("go")[-1]
    succeed("go test -count=1 ./...", project, KAFKA_SHIM_BINARY=str(command))
    path = f"{tmp_path}:/usr/local/go/bin:/usr/bin:/bin"
    assert re.search(r"^ok\s+orders", succeed(shared, project, PATH=path), re.MULTILINE)
    assert log.read_text().count("broker created") == 4


@pytest.mark.parametrize("junit", ["5.11.4", "6.1.0"])
def test_junit5(junit: str, tmp_path: Path) -> None:
    """The binary comes from the classified jar; the oldest and the newest JUnit."""
    project = copied_example("junit5/example", tmp_path)
    pom = (project / "pom.xml").read_text()
    (project / "pom.xml").write_text(pom.replace("<version>5.11.4<", f"<version>{junit}<"))
    log = tmp_path / "log"
    repository = install_jars(logging_command(tmp_path, log))
    printed = succeed("mvn -B -ntp test", project, MAVEN_OPTS=f"-Dmaven.repo.local={repository}")
    assert re.search(r"Tests run: 5, Failures: 0, Errors: 0, Skipped: 0$", printed, re.MULTILINE)
    assert log.read_text().count("broker created") == 4  # three tests, and a class


SPRING_KAFKA = {
    "3.5.6": ("org.springframework.kafka", "spring-kafka"),
    "4.0.0": ("org.springframework.boot", "spring-boot-starter-kafka"),
}
"""The dependency for Kafka in each version of Spring Boot."""


@pytest.mark.parametrize("version", SPRING_KAFKA)
def test_spring_boot(version: str, tmp_path: Path) -> None:
    """With the versions of JUnit, Jackson and Kafka that Spring Boot selects."""
    project = copied_example("junit5/spring-example", tmp_path)
    pom = (project / "pom.xml").read_text().replace("<version>3.5.6<", f"<version>{version}<")
    for shown, real in zip(SPRING_KAFKA["3.5.6"], SPRING_KAFKA[version], strict=True):
        assert pom.count(f">{shown}<") == 1
        pom = pom.replace(f">{shown}<", f">{real}<")
    (project / "pom.xml").write_text(pom)
    log = tmp_path / "log"
    repository = install_jars(logging_command(tmp_path, log))
    printed = succeed("mvn -B -ntp test", project, MAVEN_OPTS=f"-Dmaven.repo.local={repository}")
    assert re.search(r"Tests run: 2, Failures: 0, Errors: 0, Skipped: 0$", printed, re.MULTILINE)
    assert log.read_text().count("broker created") == 1


@pytest.fixture
def beside_a_clone(tmp_path: Path) -> Path:
    """Return a new folder beside a clone of this repository, in which the single file is built."""
    if not (ROOT / "dist" / "kafka-shim").exists():
        pytest.skip("there is no single file: run make dist/kafka-shim")
    (tmp_path / "kafka-shim").symlink_to(ROOT)
    (tmp_path / "orders").mkdir()
    return tmp_path / "orders"


def test_npm_before_a_release(beside_a_clone: Path) -> None:
    shutil.copy(PACKAGES / "npm/examples/node-test/orders.test.js", beside_a_clone)
    _, *install, _ = readme_commands("npm")
    script = "\n".join(["npm init --yes", "npm pkg set type=module", *install, "node --test"])
    variables = {"MAVEN_ARGS": f"-Dmaven.repo.local={CACHE / 'm2'}"}
    assert "pass 2" in succeed(script, beside_a_clone, **variables)


def test_go_before_a_release(beside_a_clone: Path) -> None:
    shutil.copy(PACKAGES / "go/example/orders_test.go", beside_a_clone)
    _, build, *local, _ = readme_commands("go")
    assert build == "make -C ../kafka-shim packages PACKAGE=go"
    get = "go get github.com/twmb/franz-go/pkg/kgo"
    assert get in (PACKAGES / "go/README.md").read_text()
    succeed("\n".join(["go mod init orders", *local, get, "go test ./..."]), beside_a_clone)


def test_junit5_before_a_release(beside_a_clone: Path) -> None:
    project = copied_example("junit5/example", beside_a_clone)
    [install, _] = readme_commands("junit5")
    arguments = f"-Dmaven.repo.local={CACHE / 'm2'}"
    succeed(install, beside_a_clone, MAVEN_ARGS=arguments)
    succeed("mvn -B -ntp -q test", project, MAVEN_OPTS=arguments)


@pytest.mark.parametrize(
    ("package", "command"),
    [
        ("npm", "node --test --test-reporter=tap test/*.test.mjs"),
        ("go", "go vet ./... && go test -count=1 ./kafkashim"),
        ("junit5", "mvn -B -ntp -q test"),
    ],
)
def test_the_tests_of_a_package_pass(package: str, command: str, tmp_path: Path) -> None:
    project = copied_example(package, tmp_path)
    binary = logging_command(tmp_path, tmp_path / "log")
    succeed(command, project, KAFKA_SHIM_BINARY=str(binary))
    assert "broker created" in (tmp_path / "log").read_text()
