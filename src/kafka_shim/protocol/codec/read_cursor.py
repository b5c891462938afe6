"""Tracks the position of generated code in the bytes, and reads fields of fixed width.

The generated variable `pos` changes as rarely as possible: the cursor counts the bytes read beyond
it, and writes positions as `pos + 5`. Consecutive noted fields are read by one Struct.
"""

from struct import Struct, calcsize

from kafka_shim.protocol.codec import runtime
from kafka_shim.protocol.codec.source import Source
from kafka_shim.protocol.codec.source_text import struct_name


class Cursor:
    """The position at which the next emitted line reads."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._run: list[tuple[str, str]] = []
        self.ahead = 0
        """Number of bytes read beyond the variable `pos`."""

    def at(self, more: int = 0) -> str:
        """Return the expression for the position `more` bytes after the current one."""
        ahead = self.ahead + more
        return f"pos + {ahead}" if ahead else "pos"

    def note(self, local: str, code: str) -> None:
        """Let the next flush read a value of a struct code into a local."""
        self._run.append((local, code))

    def take(self, length: str, ahead: int) -> str:
        """Return the expression for bytes from here on, and move `pos` behind them.

        They end `length` plus `ahead` bytes after `pos`, which is the current position then.
        """
        plus = f" + {ahead}" if ahead else ""
        return f"buf[{self.at()} : (pos := pos + {length}{plus})]"

    def settle(self) -> None:
        """Emit the reading of the noted fields, and set `pos` to the position after them."""
        self.flush()
        if self.ahead:
            self._source.line(f"pos += {self.ahead}")
            self.ahead = 0

    def flush(self) -> None:
        """Emit the reading of the noted fields."""
        run, self._run = self._run, []
        if not run:
            return
        source = self._source
        codes = "".join(code for _, code in run)
        if len(run) <= 2 and set(codes) <= set("Bb?"):
            for offset, (local, code) in enumerate(run):
                source.line(f"{local} = {self._byte(code, offset)}")
        elif codes == "16s":
            source.line(f"{run[0][0]} = buf[{self.at()} : {self.at(16)}]")
        else:
            unpack = source.constant(struct_name("READ", codes), Struct(f">{codes}").unpack_from)
            targets = ", ".join(local for local, _ in run)
            comma = "," if len(run) == 1 else ""
            source.line(f"{targets}{comma} = {unpack}(buf, {self.at()})")
        self.ahead += calcsize(f">{codes}")

    def _byte(self, code: str, offset: int) -> str:
        byte = f"buf[{self.at(offset)}]"
        if code == "B":
            return byte
        if code == "?":
            return f"{byte} != 0"
        return f"{self._source.constant('INT8', runtime.INT8)}[{byte}]"
