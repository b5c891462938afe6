"""`make coverage` fails if a package is below its minimum."""

from tests.docs.shown import ROOT
from tests.project.coverage_floors import Counts, counts_by_package, floors, raised, report


def summary(covered: int, total: int) -> dict[str, int]:
    return {
        "covered_lines": covered,
        "num_statements": total,
        "covered_branches": 1,
        "num_branches": 2,
    }


FILES = {
    "src/kafka_shim/protocol/enums.py": summary(3, 4),
    "src/kafka_shim/shim/handlers/fetch.py": summary(7, 8),
    "src/kafka_shim/shim/handlers_of_others.py": summary(0, 8),
}


def test_lines_and_branches_of_a_package_are_added() -> None:
    counts = counts_by_package(FILES, ["kafka_shim", "protocol", "shim/handlers"])
    assert counts == {
        "kafka_shim": Counts(13, 26),
        "protocol": Counts(4, 6),
        "shim/handlers": Counts(8, 10),
    }


def test_a_package_below_its_minimum_or_without_files_is_reported() -> None:
    counts = counts_by_package(FILES, ["protocol", "shim/handlers", "gone"])
    table, low = report(counts, {"protocol": 66.0, "shim/handlers": 80.1, "gone": 0.0})
    assert low == ["shim/handlers", "gone"]
    assert table.splitlines()[2].split() == ["shim/handlers", "10", "80.0", "80.1"]


def test_each_package_has_a_minimum() -> None:
    package = ROOT / "src" / "kafka_shim"
    folders = {path.parent.name for path in package.glob("*/__init__.py")} - {"shim"}
    of_shim = {f"shim/{path.parent.name}" for path in package.glob("shim/*/__init__.py")}
    assert {*floors()} == {"kafka_shim", "shim", *folders, *of_shim}


def test_minima_are_raised_to_what_was_measured_and_never_lowered() -> None:
    text = '[tool.kafka-shim.coverage]\n"protocol" = 90\n"cli" = 80\n\n[other]\n"protocol" = 1\n'
    counts = {"protocol": Counts(899, 1000), "cli": Counts(859, 1000)}
    assert raised(text, counts) == text.replace('"cli" = 80', '"cli" = 85')
