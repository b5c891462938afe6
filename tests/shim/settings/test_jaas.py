import pytest

from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.jaas import PLAIN_MODULE, parse_jaas


def test_a_client_line_has_options() -> None:
    module = parse_jaas(f'{PLAIN_MODULE} required username="a" password="s;=\\" x";', "here")
    assert module.name == PLAIN_MODULE
    assert module.options == {"username": "a", "password": 's;=" x'}


def test_a_server_line_has_users() -> None:
    text = f"{PLAIN_MODULE} required\n username=admin password='p'\n user_a=\"x\" user_b='y' ;"
    assert parse_jaas(text, "here").plain_passwords_by_user == {"a": "x", "b": "y"}


def test_escapes_are_those_of_java() -> None:
    """As `StreamTokenizer`, with which Kafka and Java read them."""
    module = parse_jaas(r'm.M required a="\t\b\\\"\101\8\q";', "here")
    assert module.options == {"a": '\t\b\\"A8q'}


def test_a_module_may_have_no_options() -> None:
    assert parse_jaas("m.M REQUIRED;", "here").options == {}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected `package.LoginModule"),
        ("m.M required", "with the `;`"),
        ("m.M username=a;", "expected `package.LoginModule"),
        ('m.M required password="a;', "quote is not closed"),
        ("m.M required username;", "not of the form key=value"),
        ("m.M required a b c;", "an option is not of the form key=value"),
        ("m.M required password=123;", "without quotes, a value has only letters"),
        ("m.M required password=a/b;", "without quotes, a value has only letters"),
    ],
)
def test_errors_are_reported(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=f"^here: .*{complaint}"):
        parse_jaas(text, "here")
