"""What lists of packages get at a release: filled templates that each list accepts."""

import hashlib
import json
import runpy
import sys
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest
import yaml

from kafka_shim.shim.settings.shim_variables import (
    reject_unknown_shim_variables,
    state_of_shim_variables,
)
from tests.packaging.installed import ROOT, run, works

VERSION = "1.2.3"
FILES = (
    "kafka_shim-1.2.3.tar.gz",
    "kafka-shim-linux-x64",
    "kafka-shim-linux-arm64",
    "kafka-shim-darwin-x64",
    "kafka-shim-darwin-arm64",
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RUBY_CHECK = """
const { loadPrism } = await import("@ruby/prism");
const { readFileSync } = await import("node:fs");
const { errors } = (await loadPrism())(readFileSync(process.argv[2], "utf-8"));
console.log(errors.map((error) => error.message).join("\\n"));
"""


@pytest.fixture(scope="module")
def fill() -> Any:
    return runpy.run_path(str(ROOT / "packages/listings/fill.py"))["fill"]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with files of a release."""
    folder = tmp_path_factory.mktemp("released")
    for name in FILES:
        (folder / name).write_text(name)
    return folder


@pytest.fixture(scope="module")
def listings(fill: Any, released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("listings")
    assert len(fill(released, folder, VERSION)) == 7
    return folder


def checksum(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def schema_check(schema: str, path: Path) -> None:
    command = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, path)
    works(run(*command, cwd=path.parent))


def test_nothing_is_left_to_fill(listings: Path) -> None:
    for path in filter(Path.is_file, listings.rglob("*")):
        text = path.read_text()
        assert "@VERSION" not in text
        assert "@SHA256" not in text
        assert VERSION in text or path.suffix == ".md", path


def test_each_file_has_its_checksum(listings: Path) -> None:
    formula = (listings / "homebrew/kafka-shim.rb").read_text().split()
    for name in FILES[1:]:
        url = next(word for word in formula if word.endswith(f'/v{VERSION}/{name}"'))
        assert formula[formula.index(url) + 2] == f'"{checksum(name)}"'
    recipe = yaml.safe_load((listings / "conda-forge/recipe.yaml").read_text())
    assert recipe["source"]["sha256"] == checksum(FILES[0])


def test_a_missing_file_of_the_release_is_an_error(fill: Any, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=FILES[0]):
        fill(tmp_path, tmp_path / "out", VERSION)


def test_the_recipe_has_the_dependencies_of_the_package(listings: Path) -> None:
    recipe = yaml.safe_load((listings / "conda-forge/recipe.yaml").read_text())
    python, *others = [line.replace(" ", "") for line in recipe["requirements"]["run"]]
    assert sorted(others) == sorted(line.lower() for line in PROJECT["dependencies"])
    assert python == "python>=${{python_min}}"
    assert PROJECT["requires-python"] == f">={recipe['context']['python_min']}"
    [entry] = PROJECT["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [" = ".join(entry)]


def test_the_plugin_has_one_dependency_and_no_code(listings: Path, tmp_path: Path) -> None:
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path)
    works(run(*build, cwd=listings / "pytest-kafka-shim"))
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [metadata] = [archive.read(name) for name in names if name.endswith("/METADATA")]
    assert {name.partition("/")[0] for name in names} == {f"pytest_kafka_shim-{VERSION}.dist-info"}
    assert message_from_bytes(metadata).get_all("Requires-Dist") == [
        f"kafka-shim[pytest]=={VERSION}"
    ]
    readme = (ROOT / "README.md").read_text()
    shown = (listings / "pytest-kafka-shim/README.md").read_text().partition("```python\n")[2]
    assert shown.partition("```")[0] in readme


def test_gitlab_s_component_is_valid_and_sets_known_variables(
    listings: Path, tmp_path: Path
) -> None:
    template = listings / "gitlab/templates/broker.yml"
    header, body = template.read_text().split("\n---\n")
    inputs = {
        name: each.get("default", ["pytest"])
        for name, each in yaml.safe_load(header)["spec"]["inputs"].items()
    } | {"topics": "orders:3", "users": "alice:secret"}
    for name, value in inputs.items():
        body = body.replace(f"$[[ inputs.{name} ]]", json.dumps(value).strip('"'))
    assert "$[[" not in body
    for name, text in (("header", header), ("body", body)):
        (tmp_path / f"{name}.yml").write_text(text)
        schema_check("vendor.gitlab-ci", tmp_path / f"{name}.yml")
    variables = yaml.safe_load(body)["kafka-tests"]["services"][0]["variables"]
    reject_unknown_shim_variables(variables)
    state = state_of_shim_variables(variables)
    assert [topic.name for topic in state.topics] == ["orders"]
    assert state.users == {"alice": "secret"}


def test_the_catalogue_names_schemas_that_exist(listings: Path) -> None:
    """Its schema, which no registry of packages has, allows these keys and no others."""
    catalog = json.loads((listings / "schemastore/catalog.json").read_text())
    start = f"https://raw.githubusercontent.com/kafka-shim/kafka-shim/v{VERSION}/"
    assert set(catalog) == {"$schema", "version", "schemas"}
    for entry in catalog["schemas"]:
        assert set(entry) == {"name", "description", "fileMatch", "url"}
        assert len(entry["fileMatch"]) == len(set(entry["fileMatch"]))
        assert (ROOT / entry["url"].removeprefix(start)).is_file()


@pytest.mark.heavy
def test_the_lists_own_checks_pass(listings: Path, tmp_path: Path) -> None:
    """The linter of Testcontainers' pages, conda's parser of recipes, and Ruby's parser."""
    tools = tmp_path / "tools"
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--target", tools)
    works(run(*pip, "yamllint", "py-rattler-build", cwd=tmp_path))
    python = ("env", f"PYTHONPATH={tools}", sys.executable)
    rules = "{extends: default, rules: {document-start: disable, line-length: {max: 120}}}"
    page = listings / "testcontainers/index.md"
    works(run(*python, "-m", "yamllint", "-d", rules, page, cwd=tmp_path))
    render = (
        "from rattler_build import Stage0Recipe, VariantConfig;"
        "[one] = Stage0Recipe.from_file('recipe.yaml').render(VariantConfig());"
        "print(one.recipe.package.name, one.recipe.package.version)"
    )
    printed = works(run(*python, "-c", render, cwd=listings / "conda-forge"))
    assert printed.split() == ["kafka-shim", VERSION]

    works(run("npm", "install", "--silent", "@ruby/prism", cwd=tmp_path))
    (tmp_path / "check.mjs").write_text(RUBY_CHECK)
    formula = listings / "homebrew/kafka-shim.rb"
    assert works(run("node", "check.mjs", formula, cwd=tmp_path)).strip() == ""
    formula.write_text(formula.read_text().replace("def install", "def"))
    assert works(run("node", "check.mjs", formula, cwd=tmp_path)).strip() != ""
