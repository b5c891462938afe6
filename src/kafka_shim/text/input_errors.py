"""The errors for what users give that cannot be used: a configuration, or files."""


class ConfigError(Exception):
    """An invalid configuration; the text says what, where and what to do."""

    @property
    def messages(self) -> tuple[str, ...]:
        """The errors, each to be reported on a line of its own: files can have several."""
        return (str(self),)


class InputError(ConfigError):
    """Errors in files; each message begins with the path and, if known, the line."""

    def __init__(self, *messages: str) -> None:
        self._messages = tuple(" ".join(message.split()) for message in messages)
        super().__init__("\n".join(self._messages))

    @property
    def messages(self) -> tuple[str, ...]:
        return self._messages


def place_text(path: str, line: int) -> str:
    """Return a place such as `acls.yaml:3`."""
    return f"{path}:{line}" if line else path
