"""Print packages, the imports between them, layers and cycles: `make architecture`.

Within each package, modules and packages are siblings. They form layers: each imports from lower
layers only. A cycle of siblings, at any depth, is an error. Imports for types only count as well.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

import grimp

PACKAGE: Final = "kafka_shim"
GENERATED: Final = "kafka_shim.protocol.messages"
EXAMPLES_MAX: Final = 3

Edges: TypeAlias = Mapping[tuple[str, str], Sequence[tuple[str, str]]]


class Siblings(NamedTuple):
    """The modules and packages directly in a package, and the imports between them."""

    package: str
    children: Sequence[str]
    imports: Edges
    """Importer and imported sibling -> the modules below them that import each other."""


def siblings_of(graph: grimp.ImportGraph) -> Iterator[Siblings]:
    """Yield each package with its siblings, parents first; generated messages are left out."""
    imports = [
        (importer, imported)
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
    ]
    for package in sorted(graph.modules):
        children = sorted(graph.find_children(package))
        if children and package != GENERATED:
            yield Siblings(package, children, _between(package, imports))


def _between(package: str, imports: Iterable[tuple[str, str]]) -> Edges:
    depth = package.count(".") + 2
    edges: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for importer, imported in imports:
        if importer.startswith(f"{package}.") and imported.startswith(f"{package}."):
            pair = _first_parts(importer, depth), _first_parts(imported, depth)
            if pair[0] != pair[1]:
                edges.setdefault(pair, []).append((importer, imported))
    return edges


def _first_parts(module: str, count: int) -> str:
    return ".".join(module.split(".")[:count])


def cycle(siblings: Siblings) -> Sequence[str]:
    """Return siblings that import each other in a circle, the first repeated; empty if none."""
    try:
        _sorter(siblings).prepare()
    except CycleError as error:
        return [*reversed(error.args[1])]
    return ()


def layers(siblings: Siblings) -> list[list[str]]:
    """Return the siblings by layer, highest first. Raise CycleError if there is a cycle."""
    sorter = _sorter(siblings)
    sorter.prepare()
    result = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        sorter.done(*ready)
        result.append(ready)
    return result[::-1]


def _sorter(siblings: Siblings) -> TopologicalSorter[str]:
    sorter: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(siblings.children, ()))
    for importer, imported in siblings.imports:
        sorter.add(importer, imported)
    return sorter


def described(graph: grimp.ImportGraph, siblings: Siblings) -> Iterator[str]:
    """Yield lines about a package: its layers, and what each package in it imports."""
    yield f"\n{siblings.package}"
    if around := cycle(siblings):
        yield f"  CYCLE {' -> '.join(_short(name) for name in around)}"
        for pair in pairwise(around):
            for importer, imported in sorted(siblings.imports[pair])[:EXAMPLES_MAX]:
                yield f"    {importer} imports {imported}"
        return
    for number, names in enumerate(layers(siblings), 1):
        yield f"  {number:2} {' | '.join(_with_size(graph, name) for name in names)}"
    for child in siblings.children:
        if not graph.find_children(child):
            continue
        counts = Counter(
            {
                imported: len(pairs)
                for (by, imported), pairs in siblings.imports.items()
                if by == child
            }
        )
        text = ", ".join(f"{_short(name)} {count}" for name, count in counts.most_common())
        yield f"     {_short(child)} -> {text or 'none of these'}"


def _short(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _with_size(graph: grimp.ImportGraph, name: str) -> str:
    count = len(graph.find_descendants(name))
    return f"{_short(name)}/ ({count})" if count else _short(name)


def report(graph: grimp.ImportGraph) -> tuple[str, int]:
    """Return what `make architecture` prints, and the number of cycles."""
    packages = [*siblings_of(graph)]
    cycles = sum(1 for siblings in packages if cycle(siblings))
    lines = [
        f"{len(graph.modules)} modules in {len(packages)} packages; layers from the highest to the",
        "lowest, packages with the number of their modules, and their imports of siblings.",
        *(line for siblings in packages for line in described(graph, siblings)),
        "",
        f"packages with a cycle: {cycles}" if cycles else "no cycle at any depth",
    ]
    return "\n".join(lines) + "\n", cycles


def main() -> int:
    text, cycles = report(grimp.build_graph(PACKAGE))
    sys.stdout.write(text)
    return 1 if cycles else 0


if __name__ == "__main__":
    sys.exit(main())
