"""Lines of keys and errors in TOML."""

import pytest

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats.toml_documents import lines_of_toml_key, load_toml

TEXT = """\
# key = 1
text = "key = 1 \\" key = 2"
'key' = 1
long = \"\"\"
key = 1 \\\"\"\" key = 2\"\"\"
raw = '''
key = 1'''
inline = {"k\\u0065y" = 1, other = [1, {key = 2}]}
dotted.key = 3
[table.key]
[[ tables . "key" ]]
x = [ "key", "key2" ]
"""


def test_a_key_is_found_in_each_form_and_not_in_values_and_comments() -> None:
    load_toml(TEXT)  # raises no error
    assert lines_of_toml_key(TEXT, "key") == [3, 8, 8, 9, 10, 11]
    assert lines_of_toml_key(TEXT, "tables") == [11]
    assert lines_of_toml_key(TEXT, "missing") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb =\n", "line 2: not TOML"),
        ("a = 1\nb = [\n", "line 3: not TOML"),
        (
            "a = 1\nb = " + "[" * 5000 + "]" * 5000 + "\n",
            "line 2: unsupported TOML: nested too deep",
        ),
        ("a = 1\nb = " + "9" * 5000 + "\n", "line 2: unsupported TOML: Exceeds the limit"),
        ("a = 1\nb = 2024-13-45\n", "line 2: not TOML"),
    ],
)
def test_errors_have_their_line(text: str, message: str) -> None:
    with pytest.raises(AclTextError, match=message):
        load_toml(text)
