"""The fast reader of plain rules returns what the YAML parser returns, or nothing."""

import pytest
from hypothesis import given, settings, strategies as st

from kafka_shim.policy.formats.documents import load_document
from kafka_shim.policy.formats.yaml_rules import parse_located_acls, parse_plain_rules

PLAIN_VALUES = ["User:a", "a.b-c/d+e=f@g", "a:b", "10.0.0.1", "'a b'", '"\'"', "'é'"]
OTHER_VALUES = r"""a: true Yes nULL off 1 1.5 ~ * a# a* User:* '' 'it''s' "a\n" ] } ,
[Read,\ Write] [] [yes] [Read,Write] Read Write Fly prefixed literal 0x1 2001-01-01 é
y << &a !a |""".split()  # noqa: SIM905
KEYS = ("principal", "allow", "deny", "topic", "group", "cluster", "pattern", "host", "foo")
PAIRS = st.tuples(
    st.sampled_from(KEYS),
    st.sampled_from([": ", ":  ", ":"]),
    st.sampled_from(PLAIN_VALUES + OTHER_VALUES),
).map("".join)
USUAL = (
    ["principal: User:a", "allow: Read", "topic: orders"],
    ["principal: [User:a,User:b]", "deny: [Read, Write]", "group: g"],
)


@st.composite
def rules(draw: st.DrawFn) -> str:
    pairs = draw(
        st.permutations([*draw(st.sampled_from(USUAL)), *draw(st.lists(PAIRS, max_size=2))])
    )
    indent = draw(st.sampled_from(["", "", "", "  "]))
    end = draw(st.sampled_from(["", "", " ", " # a", ","]))
    return f"{indent}- {{{draw(st.sampled_from([', ', ',', ',  '])).join(pairs)}}}{end}"


HEADINGS = st.sampled_from(["", "acls:\n", "# a\nacls:\n", "acls: \n", "other:\n"])
LINES = st.one_of(rules(), rules(), st.sampled_from(["", "# a", "  # a", "---", "acls:", "x"]))
TEXTS = st.tuples(HEADINGS, st.lists(LINES, max_size=4).map("\n".join)).map("".join)


@pytest.mark.deep
@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_plain_rules_are_read_as_the_yaml_parser_does(text: str) -> None:
    plain = parse_plain_rules(text)
    if plain is not None:
        assert plain == parse_located_acls(load_document(text, with_lines=True))


@pytest.mark.parametrize("value", PLAIN_VALUES + OTHER_VALUES)
def test_each_value_is_read_as_the_yaml_parser_does(value: str) -> None:
    text = f"acls:\n- {{principal: User:a, allow: Read, topic: {value}}}\n"
    plain = parse_plain_rules(text)
    if plain is not None:
        assert plain == parse_located_acls(load_document(text, with_lines=True))
    assert plain is not None or value in (*OTHER_VALUES, "'é'")


def test_the_line_of_each_acl_is_known() -> None:
    rule = "- {principal: 'User:*', allow: [Read, Write], topic: a-, pattern: prefixed}"
    plain = parse_plain_rules(f"acls:\n\n# a\n{rule}\n")
    assert plain is not None
    assert [line for _, line in plain] == [4, 4]
