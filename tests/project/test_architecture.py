"""`make architecture` shows layers of siblings and finds cycles at any depth."""

import re
import tomllib

import grimp
import pytest

from kafka_shim.pipeline.package import PACKAGES
from tests.docs.shown import ROOT
from tests.project.architecture import layers, report, siblings_of

LAYERS_MAX = 14


@pytest.fixture
def graph() -> grimp.ImportGraph:
    result = grimp.ImportGraph()
    for name in ("p", "p.a", "p.a.x", "p.a.y", "p.b", "p.b.z", "p.c"):
        result.add_module(name)
    result.add_import(importer="p.a.x", imported="p.a.y")
    result.add_import(importer="p.a.x", imported="p.b.z")
    result.add_import(importer="p.a.y", imported="p.b.z")
    return result


def test_layers_are_shown_with_sizes_and_imports(graph: grimp.ImportGraph) -> None:
    text, cycles = report(graph)
    assert cycles == 0
    lines = text.splitlines()
    assert lines[lines.index("p") :] == [
        "p",
        "   1 a/ (2)",
        "   2 b/ (1) | c",
        "     a -> b 2",
        "     b -> none of these",
        "",
        "p.a",
        "   1 x",
        "   2 y",
        "",
        "p.b",
        "   1 z",
        "",
        "no cycle at any depth",
    ]


def test_cycle_of_packages_names_the_imports_that_make_it(graph: grimp.ImportGraph) -> None:
    graph.add_import(importer="p.b.z", imported="p.a.y")
    text, cycles = report(graph)
    assert cycles == 1
    assert "  CYCLE a -> b -> a" in text or "  CYCLE b -> a -> b" in text
    assert "    p.b.z imports p.a.y" in text
    assert "packages with a cycle: 1" in text


def test_cycle_in_a_package_is_found(graph: grimp.ImportGraph) -> None:
    graph.add_import(importer="p.a.y", imported="p.a.x")
    text, cycles = report(graph)
    assert cycles == 1
    assert "CYCLE" in text.split("\np.a\n")[1]


def test_imports_of_a_package_by_its_modules_are_no_cycle(graph: grimp.ImportGraph) -> None:
    graph.add_import(importer="p", imported="p.a.x")
    graph.add_import(importer="p.b.z", imported="p")
    assert report(graph)[1] == 0
    assert layers(next(siblings_of(graph))) == [["p.a"], ["p.b", "p.c"]]


def test_the_package_has_no_cycle_at_any_depth() -> None:
    text, cycles = report(grimp.build_graph("kafka_shim"))
    assert cycles == 0, text


def test_no_package_has_more_layers_than_allowed() -> None:
    packages = siblings_of(grimp.build_graph("kafka_shim"))
    deep = {each.package: layers(each) for each in packages if len(layers(each)) > LAYERS_MAX}
    assert deep == {}


def test_the_contract_of_the_shim_has_no_more_layers_than_allowed() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    [contract] = [
        contract
        for contract in tools["importlinter"]["contracts"]
        if contract.get("containers") == ["kafka_shim.shim"]
    ]
    assert len(contract["layers"]) <= LAYERS_MAX


def test_the_page_lists_the_parts_of_the_shim_above_those_that_they_import() -> None:
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
    table = page.partition("In `shim/`, each row")[2].partition("`make lint`")[0]
    rows = re.findall(r"^\| ([^|]*`[\w/.]+`[^|]*) \|", table, re.MULTILINE)
    cells = [re.findall(r"`(\w+)(?:/|\.py)`", cell) for cell in rows]
    graph = grimp.build_graph("kafka_shim")
    [shim] = [each for each in siblings_of(graph) if each.package == "kafka_shim.shim"]
    order = {name: at for at, cell in enumerate(cells) for name in cell}
    assert order.keys() >= {name.rpartition(".")[2] for name in shim.children}
    for pair in shim.imports:
        importer, imported = (name.rpartition(".")[2] for name in pair)
        assert order[importer] <= order[imported], pair


def test_the_page_lists_the_rooms_from_the_ground_up_as_the_contract() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    [contract] = [
        contract
        for contract in tools["importlinter"]["contracts"]
        if contract.get("containers") == ["kafka_shim"]
    ]
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
    table = page.partition("## The rooms")[2].partition("In `shim/`, each row")[0]
    rows = re.findall(r"^\| `(\w+)/` \|", table, re.MULTILINE)
    layer = {
        room: at
        for at, names in enumerate(reversed(contract["layers"]))
        for room in names.split(" | ")
    }
    assert sorted(rows) == sorted(layer)
    assert [layer[room] for room in rows] == sorted(layer[room] for room in rows)
    assert all(re.search(rf"\b{room}\b", table.partition("| folder")[0]) for room in rows)


def test_the_archive_for_spark_workers_has_all_that_the_pipeline_imports() -> None:
    graph = grimp.build_graph("kafka_shim")
    imported = graph.find_upstream_modules("kafka_shim.pipeline", as_package=True)
    rooms = {name.split(".")[1] for name in imported if "." in name}
    assert rooms | {"pipeline"} == set(PACKAGES)
