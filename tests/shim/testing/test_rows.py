"""Rows are dicts whose declared attributes are the columns that the control API returns."""

import typing
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest

from kafka_shim.shim.control import bodies
from kafka_shim.shim.faults import spec
from kafka_shim.shim.testing import faults, rows
from kafka_shim.shim.testing.faults import FaultOptions
from kafka_shim.shim.testing.rows import Row, StateRow, TopicRow

SHAPES: dict[type[Row], type[msgspec.Struct]] = {
    rows.HealthRow: bodies.Health,
    rows.TopicRow: bodies.TopicRow,
    rows.CleanedPartitionRow: bodies.CleanedPartition,
    rows.AclRow: bodies.AclRow,
    rows.GroupRow: bodies.GroupRow,
    rows.StateRow: bodies.State,
    rows.AuthenticationRow: bodies.AuthenticationRow,
    rows.NodeRow: bodies.NodeRow,
    rows.PushRow: bodies.PushRow,
    rows.RequestRow: bodies.RequestRow,
    rows.DecisionRow: bodies.DecisionRow,
    rows.FaultRow: bodies.FaultRow,
}
ROW_OF = {shape: row for row, shape in SHAPES.items()}


def as_row(declared: Any) -> Any:
    """Return the type of a column for this type in the API's shape."""
    if get_origin(declared) is list:
        [of] = get_args(declared)
        return list[as_row(of)]  # type: ignore[misc]  # made at run time
    if get_origin(declared) is UnionType:
        [of] = [of for of in get_args(declared) if of is not NoneType]
        return as_row(of) | None
    if declared in ROW_OF:
        return ROW_OF[declared]
    if isinstance(declared, type) and issubclass(declared, msgspec.Struct):
        return dict[str, Any]
    return declared


def without_any(column: Any) -> Any:
    """Return the type of a column that may be None, which MaybeNone hides from type checkers."""
    if Any not in get_args(column) or get_origin(column) is dict:
        return column
    [known] = [of for of in get_args(column) if of is not Any]
    return known | None


def test_every_row_has_a_shape() -> None:
    assert set(SHAPES) == set(Row.__subclasses__())


@pytest.mark.parametrize("row", SHAPES, ids=lambda row: row.__name__)
def test_a_row_declares_the_columns_of_the_control_api(row: type[Row]) -> None:
    responded = {name: as_row(of) for name, of in get_type_hints(SHAPES[row]).items()}
    declared = get_type_hints(row)
    assert declared.keys() == responded.keys()
    assert {name: without_any(column) for name, column in declared.items()} == responded
    assert not declared.keys() & set(dir(dict)), "an attribute of dict hides these columns"


def test_faults_take_the_keywords_of_the_control_api() -> None:
    def without_none(declared: Any) -> Any:
        [*named] = [of for of in get_args(declared) if of is not type(None)]
        return typing.Union[tuple(named)] if named else declared  # noqa: UP007 - made at run time

    assert get_type_hints(FaultOptions) == {
        name: without_none(of)
        for shape in (spec.Match, spec.Trigger)
        for name, of in get_type_hints(shape).items()
    }
    assert set(get_type_hints(spec.Trigger)) == faults._TRIGGERS


def test_a_row_is_a_dict_whose_columns_are_attributes() -> None:
    topic = {"name": "orders", "partitions": 3}
    row = TopicRow(topic)
    assert row == topic
    assert (row.name, row["partitions"]) == ("orders", 3)
    with pytest.raises(AttributeError, match=r"unknown column nmae; did you mean name\?"):
        _ = row.nmae  # type: ignore[attr-defined]  # a typing error, on purpose
    assert not hasattr(row, "zzzzzz")


def test_rows_within_the_state_have_attributes_too() -> None:
    state = StateRow({"topics": [{"name": "orders"}], "acls": [], "groups": [{"state": "Empty"}]})
    assert [topic.name for topic in state.topics] == ["orders"]
    assert state["groups"][0]["state"] == state.groups[0].state == "Empty"
