"""Tracks the position of generated code in the bytes, and reads fields of fixed width.

The generated variable `pos` changes as rarely as possible: the cursor counts the bytes read beyond
it, and writes positions as `pos + 5`. Consecutive deferred fields are read by one Struct.
"""

from struct import Struct, calcsize

from kafka_shim.protocol.codec import runtime
from kafka_shim.protocol.codec.function_source import (
    Expression,
    FunctionSource,
    LocalName,
    struct_constant_name,
)


class ReadCursor:
    """The position at which the next emitted line reads."""

    def __init__(self, source: FunctionSource) -> None:
        self._source = source
        self._deferred_reads: list[tuple[LocalName, str]] = []
        self.bytes_ahead = 0
        """Number of bytes read beyond the variable `pos`."""

    def position_expression(self, extra_bytes: int = 0) -> Expression:
        """Return the expression for the position `extra_bytes` bytes after the current one."""
        bytes_ahead = self.bytes_ahead + extra_bytes
        return f"pos + {bytes_ahead}" if bytes_ahead else "pos"

    def defer_read(self, local: LocalName, struct_code: str) -> None:
        """Let the next emitted read put a value of a struct code into a local."""
        self._deferred_reads.append((local, struct_code))

    def slice_expression(self, length: LocalName, extra_bytes: int) -> Expression:
        """Return the expression for bytes from here on, and move `pos` behind them.

        They end `length` plus `bytes_ahead` bytes after `pos`, which is the current position then.
        """
        plus = f" + {extra_bytes}" if extra_bytes else ""
        return f"buf[{self.position_expression()} : (pos := pos + {length}{plus})]"

    def emit_deferred_reads(self) -> None:
        """Emit the reading of the deferred fields, and set `pos` to the position after them."""
        self.emit_deferred_reads_without_advancing()
        if self.bytes_ahead:
            self._source.add_line(f"pos += {self.bytes_ahead}")
            self.bytes_ahead = 0

    def emit_deferred_reads_without_advancing(self) -> None:
        """Emit the reading of the deferred fields."""
        reads, self._deferred_reads = self._deferred_reads, []
        if not reads:
            return
        source = self._source
        codes = "".join(code for _, code in reads)
        position = self.position_expression()
        if len(reads) <= 2 and set(codes) <= set("Bb?"):
            for offset, (local, code) in enumerate(reads):
                source.add_line(f"{local} = {self._single_byte_expression(code, offset)}")
        elif codes == "16s":
            source.add_line(f"{reads[0][0]} = buf[{position} : {self.position_expression(16)}]")
        else:
            unpack = source.add_constant(
                struct_constant_name("READ", codes), Struct(f">{codes}").unpack_from
            )
            targets = ", ".join(local for local, _ in reads)
            comma = "," if len(reads) == 1 else ""
            source.add_line(f"{targets}{comma} = {unpack}(buf, {position})")
        self.bytes_ahead += calcsize(f">{codes}")

    def _single_byte_expression(self, struct_code: str, offset: int) -> Expression:
        byte = f"buf[{self.position_expression(offset)}]"
        if struct_code == "B":
            return byte
        if struct_code == "?":
            return f"{byte} != 0"
        return f"{self._source.add_constant('INT8', runtime.INT8)}[{byte}]"
