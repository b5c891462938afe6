"""Rows are dicts whose declared attributes are the columns that the control API returns."""

import typing
from typing import Any, get_args, get_type_hints

import pytest

from kafka_shim.shim.faults import spec
from kafka_shim.testing import faults, generate_names
from kafka_shim.testing.faults import FaultOptions
from kafka_shim.testing.generate_rows import FILE, SHAPES, rows_source
from kafka_shim.testing.row import Row
from kafka_shim.testing.rows import ClusterStateRow, TopicRow
from tests.support.generated_files import outdated


def test_the_columns_are_those_of_the_control_api() -> None:
    assert rows_source() == FILE.read_text(encoding="utf-8"), outdated("testing/rows.py")


def test_no_column_is_hidden_by_an_attribute_of_dict() -> None:
    assert len(Row.__subclasses__()) == len(SHAPES)
    for row in Row.__subclasses__():
        assert not get_type_hints(row).keys() & set(dir(dict))


def test_faults_take_the_keywords_of_the_control_api() -> None:
    def without_none(declared: Any) -> Any:
        [*named] = [of for of in get_args(declared) if of is not type(None)]
        return typing.Union[tuple(named)] if named else declared  # noqa: UP007 - made at run time

    options = get_type_hints(FaultOptions) | {"api": str}  # which is narrower there
    assert options == {
        name: without_none(of)
        for shape in (spec.Match, spec.Trigger)
        for name, of in get_type_hints(shape).items()
    } | {"must_fire": bool}
    assert set(get_type_hints(spec.Trigger)) == faults._TRIGGERS


def test_names_for_type_checkers_are_those_of_the_protocol() -> None:
    sources = generate_names.names_sources()
    written = {path: (generate_names.ROOT / path).read_text(encoding="utf-8") for path in sources}
    assert sources == written, outdated("testing/names.py")


def test_a_row_is_a_dict_whose_columns_are_attributes() -> None:
    topic = {"name": "orders", "partitions": 3}
    row = TopicRow(topic)
    assert row == topic
    assert (row.name, row["partitions"]) == ("orders", 3)
    with pytest.raises(AttributeError, match=r"unknown column `nmae`; did you mean `name`\?"):
        _ = row.nmae  # type: ignore[attr-defined]  # a typing error, on purpose
    assert not hasattr(row, "zzzzzz")


def test_rows_within_the_state_have_attributes_too() -> None:
    state = ClusterStateRow(
        {"topics": [{"name": "orders"}], "acls": [], "groups": [{"state": "Empty"}]}
    )
    assert [topic.name for topic in state.topics] == ["orders"]
    assert state["groups"][0]["state"] == state.groups[0].state == "Empty"
