"""The packages for other languages: their versions, sizes and the code in their READMEs."""

import json
import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.docs.shown import ROOT, blocks

PACKAGES = ROOT / "packages"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
POM = "{http://maven.apache.org/POM/4.0.0}"
LINES_MAX = 450
SOURCES = {
    "npm": sorted((PACKAGES / "npm").glob("*.js")),
    "junit5": sorted((PACKAGES / "junit5" / "src" / "main").rglob("*.java")),
    "go": [path for path in (PACKAGES / "go").rglob("*.go") if not path.name.endswith("_test.go")],
}


def npm_manifests() -> list[Path]:
    folders = (PACKAGES / "npm", ROOT / "examples")
    found = [path for folder in folders for path in folder.rglob("package.json")]
    return [path for path in found if "node_modules" not in path.parts]


def test_npm_s_versions_are_that_of_the_project() -> None:
    manifest = json.loads((PACKAGES / "npm" / "package.json").read_text())
    binaries = manifest["optionalDependencies"]
    assert {manifest["version"], *binaries.values()} == {VERSION}
    assert len(binaries) == 6
    used = [json.loads(path.read_text()).get("devDependencies", {}) for path in npm_manifests()]
    assert [names["kafka-shim"] for names in used if "kafka-shim" in names] == [VERSION] * 4


@pytest.mark.parametrize(
    "path", ["junit5/example", "junit5/spring-example", "../examples/java-junit"]
)
def test_maven_s_versions_are_that_of_the_project(path: str) -> None:
    own = ET.parse(PACKAGES / "junit5" / "pom.xml").getroot()
    assert own.findtext(f"{POM}version") == VERSION
    classifiers = [found.text for found in own.iter(f"{POM}classifier")]
    assert len(classifiers) == 6
    user = ET.parse(PACKAGES / path / "pom.xml").getroot()
    named = [
        dependency.findtext(f"{POM}version")
        for dependency in user.iter(f"{POM}dependency")
        if dependency.findtext(f"{POM}artifactId") == "kafka-shim-junit5"
    ]
    assert named == [VERSION, VERSION]


def test_jars_are_released_in_the_same_way() -> None:
    """Two packages can share a profile of Maven only with a parent that is published, too."""
    profiles = [
        ET.canonicalize(ET.tostring(each), strip_text=True)
        for name in ("authorizer-tck", "junit5")
        for each in ET.parse(PACKAGES / name / "pom.xml").iter(f"{POM}profile")
        if each.findtext(f"{POM}id") == "release"
    ]
    assert len(profiles) == 2
    assert len(set(profiles)) == 1


def test_go_s_versions_are_that_of_the_project() -> None:
    modules = [*PACKAGES.rglob("go.mod"), *(ROOT / "examples").rglob("go.mod")]
    named = [
        version
        for path in modules
        for version in re.findall(r"kafka-shim/packages/go v(\S+)", path.read_text())
    ]
    assert len(named) >= 2
    assert set(named) == {VERSION}


def test_the_image_is_that_of_this_version() -> None:
    """The classes name the image of the version that they belong to."""
    named = [
        found
        for path in (
            PACKAGES / "npm" / "testcontainers.js",
            PACKAGES / "go" / "testcontainers" / "container.go",
            next((PACKAGES / "junit5").rglob("KafkaShimContainer.java")),
            ROOT / "src" / "kafka_shim" / "testing" / "testcontainers.py",
        )
        for found in re.findall(r'"ghcr\.io/kafka-shim/kafka-shim:(.*?)"', path.read_text())
    ]
    assert named == [VERSION] * 4


def test_code_on_the_page_about_containers_is_that_of_tests() -> None:
    page = ROOT / "docs" / "guides" / "testcontainers.md"
    shown = re.findall(
        r"\]\((\S+)\):\n\n```\w+\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL
    )
    assert len(shown) == 4
    for link, text in shown:
        assert text.rstrip() in (page.parent / link).read_text(), f"the page differs from {link}"


def significant_lines(path: Path) -> int:
    """Count the lines without empty ones, imports and comments; none of a generated file."""
    if "Generated from" in path.read_text():
        return 0
    left_out = re.compile(r"(?:import|package) |//|/?\*|$")
    lines = map(str.strip, path.read_text().splitlines())
    return sum(not left_out.match(line) for line in lines)


@pytest.mark.parametrize("package", SOURCES)
def test_a_package_is_small(package: str) -> None:
    assert sum(map(significant_lines, SOURCES[package])) < LINES_MAX


def code_files(folder: Path) -> list[Path]:
    """Return the files of a package that tests compile or run."""
    return [
        path
        for path in folder.rglob("*")
        if path.suffix in (".js", ".ts", ".json", ".go", ".java", ".xml")
        and "node_modules" not in path.parts
    ]


def test_code_in_a_readme_is_that_of_a_file_that_is_tested() -> None:
    shown = [block for block in blocks() if block.page.startswith("packages/")]
    assert len(shown) >= 8
    for block in shown:
        files = code_files((ROOT / block.page).parent)
        assert any(block.text.rstrip() in path.read_text() for path in files), (
            f"{block.page} differs from the files beside it:\n{block.text}"
        )


def test_code_of_the_home_page_is_that_of_files_that_are_tested() -> None:
    """The test in Python is on README, whose blocks are run."""
    shown = {block.language: block.text for block in blocks() if block.page == "docs/site/home.md"}
    assert list(shown) == ["py", "java", "go", "js"]
    sources = [path.read_text() for path in (ROOT / "README.md", *code_files(PACKAGES))]
    for language, text in shown.items():
        assert any(text.rstrip() in source for source in sources), language


def test_faults_on_the_page_are_those_of_files_that_are_tested() -> None:
    def words(text: str) -> str:
        return " ".join(text.split())

    shown = [block for block in blocks() if block.page == "docs/guides/faults.md"]
    others = {block.language: words(block.text) for block in shown if block.language != "python"}
    assert set(others) == {"java", "js", "go", "bash"}
    sources = [
        words(path.read_text()) for path in code_files(PACKAGES) + code_files(ROOT / "examples")
    ]
    for language in ("java", "js", "go"):
        assert any(others[language] in source for source in sources), language
