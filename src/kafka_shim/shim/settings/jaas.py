"""Reads JAAS lines of Kafka's configuration: a login module, a flag, and options."""

import re

import msgspec

from kafka_shim.shim.errors import ConfigError

_TOKEN = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([=;])|([^\s=;"']+))""")
_FLAGS = frozenset({"required", "requisite", "sufficient", "optional"})
_USER = "user_"

PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


class JaasModule(msgspec.Struct, frozen=True):
    """A login module with its options, without quotes."""

    name: str
    options: dict[str, str]

    @property
    def plain_passwords_by_user(self) -> dict[str, str]:
        """Return the users of a PLAIN server: `user_alice="secret"` is the password of alice."""
        return {
            key.removeprefix(_USER): value
            for key, value in self.options.items()
            if key.startswith(_USER)
        }


def parse_jaas(text: str, where: str) -> JaasModule:
    """Parse `package.Module required key="value" ...;`.

    Raise ConfigError, beginning with `where`, if the text is invalid.
    """
    tokens = _split_tokens(text, where)
    if len(tokens) < 3 or tokens[1].lower() not in _FLAGS or tokens[-1] != ";":
        raise ConfigError(
            f'{where}: expected `package.LoginModule required key="value" ...;`, with the `;`'
        )
    options = {}
    words = tokens[2:-1]
    if len(words) % 3:
        raise ConfigError(f"{where}: an option is not of the form key=value")
    for key, equals, value in zip(words[::3], words[1::3], words[2::3], strict=True):
        if equals != "=":
            raise ConfigError(f"{where}: an option is not of the form key=value")
        options[key] = value
    return JaasModule(tokens[0], options)


def _split_tokens(text: str, where: str) -> list[str]:
    tokens = []
    at, text = 0, text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ConfigError(f"{where}: a quote is not closed")
        at = match.end()
        double, single, sign, bare = match.groups()
        quoted = double if double is not None else single
        tokens.append(sign or bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted))
    return tokens
