"""A new release is added to the tables and to the page about releases."""

import json

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.schemas.pins import PYPROJECT, read_pins
from kafka_shim.schemas.releases import minor_release
from kafka_shim.schemas.releases.extract import JARS, fact_file_texts
from tests.recordings.conformance.scenario import recordings, scenario_count
from tests.releases import adopting, table
from tests.releases.test_differing import release, request
from tests.support.generated_files import outdated

VERSIONS = """\
RELEASES: Final = (
    *("9.0", "9.1"),
)
_ADVERTISED: Final[dict[ApiKey, str]] = {
    ApiKey.READ: (
        "9.0:0-1 "
        "9.1:0-2"
    ),
    ApiKey.WRITE_MORE: "9.0:0-3",
    ApiKey.STAYS: "9.0:0-0",
}
"""


def test_versions_are_added_where_they_changed() -> None:
    old = release("9.1.2", request("Read", "0-2"), request("WriteMore", "1-3"))
    new = release(
        "9.2.0", request("Read", "1-2"), request("WriteMore", "1-4"), request("Made", "0")
    )
    text = adopting.with_versions(VERSIONS, old, new)
    assert '*("9.0", "9.1", "9.2"),' in text
    assert '"9.1:0-2 9.2:1-2"' in text
    assert 'ApiKey.WRITE_MORE: "9.0:0-3 9.2:0-4",' in text, "lowest versions stay"
    assert 'ApiKey.STAYS: "9.0:0-0",\n    ApiKey.MADE: "9.2:0-0",\n}' in text
    assert adopting.with_versions(text, old, new) == text, "a release is added once"


def test_a_new_major_release_begins_a_line() -> None:
    text = adopting.with_versions(VERSIONS, release("9.1.2"), release("10.0.0"))
    assert '    *("9.0", "9.1"),\n    *("10.0",),\n' in text


def test_only_the_newest_jars_are_replaced() -> None:
    text = PYPROJECT.read_text()
    newest = read_pins().newest
    pinned = adopting.pinned(text, {"kafka-clients": "ab12"}, "99.0.0")
    changed = [line for line in pinned.splitlines() if line not in text.splitlines()]
    assert [line.split("  ")[0] for line in changed] == [
        'artifact = "org.apache.kafka:kafka-clients:99.0.0"',
        'sha256 = "ab12"',
    ]
    assert newest not in changed[0]


def test_the_history_of_facts_has_the_facts_of_each_release() -> None:
    versions = json.loads(JARS.read_text())["releases"]
    told = fact_file_texts(
        {version: adopting.release_at(minor_release(version)) for version in versions}
    )
    assert [path.name for path, text in told.items() if path.read_text() != text] == []


def test_the_page_has_a_row_for_each_release_with_all_its_scenarios() -> None:
    cells = [line.split(" | ") for line in table.PAGE.read_text().splitlines()]
    rows = {cell[0].strip("| "): cell for cell in cells if len(cell) == 5}
    for name in RELEASES:
        named = [row for row in recordings() if minor_release(row.partition("-")[0]) == name]
        assert int(rows[name][2]) == sum(map(scenario_count, named)), outdated(
            "docs/reference/releases.md"
        )


def test_the_table_is_replaced_and_nothing_else() -> None:
    page = f"before\n{table.BEGIN}| old |\n{table.END}\nafter\n"
    told = table.page_with(page, [table.Row("9.0", "9.0.1", 2, 1500, 1499)])
    assert "| 9.0 | 9.0.1 | 2 | 1,500 | 1,499 |" in told
    assert told.startswith(f"before\n{table.BEGIN}")
    assert told.endswith(f"{table.END}\nafter\n")
    assert "| old |" not in told
