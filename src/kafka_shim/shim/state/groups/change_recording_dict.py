"""A dictionary that records its changes, so that a change of one entry can be stored alone."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class ChangeRecordingDict(dict[Key, Value]):
    """A dictionary that records which keys were set or deleted since `start_recording`.

    `changed_keys` are None before that: then all of them may have changed. The flag of a key says
    whether it was inserted anew, behind the others.
    """

    __slots__ = ("changed_keys",)

    def __init__(self, entries: Mapping[Key, Value] | Iterable[tuple[Key, Value]] = ()) -> None:
        super().__init__(entries)
        self.changed_keys: dict[Key, bool] | None = None

    def start_recording(self) -> None:
        """Forget the recorded changes, and record all that follow."""
        self.changed_keys = {}

    def __setitem__(self, key: Key, value: Value) -> None:
        changed = self.changed_keys
        if changed is not None:
            if key in self:
                changed.setdefault(key, False)
            else:
                changed.pop(key, None)
                changed[key] = True
        super().__setitem__(key, value)

    def __delitem__(self, key: Key) -> None:
        super().__delitem__(key)
        if self.changed_keys is not None:
            self.changed_keys[key] = True

    def pop(self, key: Key, default: Value) -> Value:  # type: ignore[override]
        """Remove a key and return its value; return the default if it is missing."""
        value = self.get(key, default)
        if key in self:
            del self[key]
        return value

    def update(self, entries: Mapping[Key, Value]) -> None:  # type: ignore[override]
        for key, value in entries.items():
            self[key] = value
