"""YAML and JSON as documents."""

import pytest

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats import parse_distinct_acls
from kafka_shim.policy.formats.documents import load_document


@pytest.mark.parametrize(
    "text",
    ["a: 1\nb: {c: 1}\na: 2", "x:\n  a: 1\n  a: 1", '{"b": 1,\n\n"a": 1, "a": 2}'],
)
def test_a_duplicate_key_is_an_error(text: str) -> None:
    with pytest.raises(AclTextError, match=r"line 3: not (YAML|JSON): duplicate key `a`"):
        load_document(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: {{ .Values.name }}\n", "line 1: not YAML: `{{` begins a template: give the text"),
        ("a:\n{{- range .x }}\n- b\n{{- end }}\n", "`{{` begins a template: give the text that it"),
        ("a:\n{% for b in c %}\n- b\n", "`{%` begins a template: give the text that it makes"),
        ("a: '{{ b }}'\n\n\nc: [\n", "did not find expected node content"),
    ],
)
def test_templates_are_named(text: str, said: str) -> None:
    with pytest.raises(AclTextError) as caught:
        load_document(text)
    assert said in str(caught.value)


def test_keys_that_only_look_alike_are_accepted() -> None:
    assert load_document("a: 1\n'1': 2\n1: 3") == {"a": 1, "1": 2, 1: 3}
    assert load_document("- {a: 1}\n- {a: 1}") == [{"a": 1}, {"a": 1}]


def test_merged_mappings_may_override_keys() -> None:
    text = "x: &x {a: 1, b: 1}\ny: &y {c: 1}\nz: {<<: [*x, *y], a: 2}\nw: {<<: *x, <<: *y}"
    found = load_document(text)
    assert found["z"] == {"a": 2, "b": 1, "c": 1}
    assert found["w"] == {"a": 1, "b": 1, "c": 1}


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "{a: " * 100_000, "- " * 5000, "a:\n" + " " * 10_000 + "b: 1", "? " * 300],
)
def test_too_deep_nesting_is_an_error(text: str) -> None:
    with pytest.raises(AclTextError, match="nested more than 100 deep"):
        load_document(text)


def test_a_long_list_is_not_deep() -> None:
    assert len(load_document("[" + "{a: [1]}," * 10_000 + "]")) == 10_000
    assert load_document("a: |\n  " + "-" * 500) == {"a": "-" * 500}
    assert load_document("".join(f"- {{a: {n}}}\n" for n in range(500)))[499] == {"a": 499}


@pytest.mark.parametrize(
    "text",
    [
        '{"resources": [{"type": "kafka_acl", "name": "a", "values": 1}]}',
        '{"resources": [{"type": "kafka_acl", "name": "a", "instances": 1}]}',
        '{"resources": [{"type": "kafka_acl", "name": "a", "instances": [1]}]}',
        '{"acls": [{"principal": ' + "9" * 6000 + "}]}",
        "a: 1" + ":1" * 3000,
    ],
)
def test_values_of_a_wrong_kind_are_errors_of_the_text(text: str) -> None:
    for form in (None, "terraform", "json", "yaml"):
        with pytest.raises(AclTextError):
            parse_distinct_acls(text, form)
