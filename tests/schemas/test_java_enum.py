"""Error codes and API keys in Kafka's class files equal those of the package."""

from enum import IntEnum

import pytest

from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.schemas import enum_codes as vendored
from kafka_shim.schemas.java_enum import read_enum_codes
from tests.schemas.class_files import class_of_enum, class_with_code


def test_codes_of_an_enum() -> None:
    made = {"UNKNOWN": -1, "NONE": 0, "ONE": 1, "FAR": 30_000}
    assert read_enum_codes(class_of_enum(made)) == made


def test_files_other_than_class_files_are_rejected() -> None:
    with pytest.raises(ValueError, match="not a class file"):
        read_enum_codes(b"PK\3\4")


def test_a_switch_is_rejected_instead_of_being_misread() -> None:
    with pytest.raises(ValueError, match="instruction 0xaa is not expected"):
        read_enum_codes(class_with_code(b"\xaa" + bytes(20)))


@pytest.mark.parametrize(
    ("name", "enum"),
    [
        ("Errors", ErrorCode),
        ("ResourceType", ResourceType),
        ("PatternType", PatternType),
        ("AclPermissionType", Permission),
        ("AclOperation", Operation),
    ],
)
def test_codes_of_the_wire_are_kafkas(name: str, enum: type[IntEnum]) -> None:
    assert vendored()[name] == {member.name: member.value for member in enum}
