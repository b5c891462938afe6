"""The driver, a process that uses a client: it reads commands as JSON lines and writes answers."""

import asyncio
import contextlib
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import msgspec

from kafka_shim.conformance.commands import answer_violation, read_contract
from kafka_shim.conformance.contract import VERSION
from kafka_shim.shim.errors import UnavailableError

LINE_BYTES_MAX = 64 * 1024 * 1024
_STOP_SECONDS = 5.0
_LONGEST_STRETCH = 10


class ReportedError(msgspec.Struct, frozen=True):
    """An error that the client reported to its caller."""

    name: str = msgspec.field(name="class")
    code: int | None
    text: str
    retriable: bool | None = None
    fatal: bool | None = None
    abortable: bool | None = None

    def __str__(self) -> str:
        return f"{self.name} ({'no code' if self.code is None else self.code}): {self.text}"


class DriverResponse(msgspec.Struct, frozen=True):
    """A driver's answer: exactly one of `ok`, `error` and `unsupported`."""

    ok: dict[str, Any] | None = None
    error: ReportedError | None = None
    unsupported: bool = False

    def item_response(self, name: str) -> "DriverResponse":
        """Return the answer for one name; an error of the whole request applies to each name."""
        if self.ok is None:
            return self
        items = self.ok.get("items")
        item = items.get(name) if isinstance(items, dict) else None
        if not isinstance(item, dict):
            raise ContractError(f"the driver answered nothing for {name}")
        if "class" in item:
            return DriverResponse(error=_parse_reported_error(item))
        return DriverResponse(ok=item)

    def first_item_response(self) -> "DriverResponse":
        """Return the answer for the first name, or the whole answer if it has no names."""
        items = list((self.ok or {}).get("items", {}))
        return self.item_response(items[0]) if items else self

    def __str__(self) -> str:
        if self.unsupported:
            return "unsupported"
        if self.error is not None:
            return str(self.error)
        return f"ok {msgspec.json.encode(self.ok).decode()}"


class ContractError(Exception):
    """The driver violates the contract, or has ended."""


class DriverTimeoutError(Exception):
    """The driver did not answer in time."""


def _parse_reported_error(content: Any) -> ReportedError:
    try:
        return msgspec.convert(content, ReportedError)
    except msgspec.ValidationError as error:
        raise ContractError(f"the driver reported an invalid error: {error}") from error


class Driver:
    """A running driver, which does one command at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._ids = itertools.count(1)
        self.name = "client"
        self.version = ""
        self.commands: frozenset[str] = frozenset()
        self.capabilities: frozenset[str] = frozenset()

    @classmethod
    async def start(cls, argv: Sequence[str]) -> Self:
        """Start the program and ask for its `hello`. Raise UnavailableError if it is not a
        driver.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=LINE_BYTES_MAX,
            )
        except OSError as error:
            raise UnavailableError(f"cannot start `{argv[0]}`: {error.strerror}") from error
        driver = cls(process)
        try:
            hello = await driver.run_command("hello", seconds=60)
            driver._read_hello(hello)
        except (ContractError, DriverTimeoutError) as error:
            await driver.stop()
            raise UnavailableError(f"`{' '.join(argv)}` is not a driver: {error}") from error
        except BaseException:
            await driver.stop()
            raise
        return driver

    def _read_hello(self, hello: DriverResponse) -> None:
        hello_fields = hello.ok
        if hello_fields is None:
            raise ContractError(f"it answered `hello` with {hello}")
        contract_version = hello_fields.get("contract", VERSION)
        if contract_version != VERSION:
            raise ContractError(
                f"it implements version {contract_version} of the contract, not {VERSION}"
            )
        self.name = hello_fields["name"]
        self.version = hello_fields["version"]
        self.commands = frozenset(hello_fields["commands"])
        self.capabilities = frozenset(
            hello_fields.get("capabilities", read_contract().capabilities)
        )

    def find_missing_feature(self, commands: Set[str], capabilities: Set[str]) -> str:
        """Return the first missing command or capability; empty if the driver has all of them."""
        if missing := commands - self.commands:
            return f"command `{min(missing)}`"
        if missing := capabilities - self.capabilities:
            return f"capability `{min(missing)}`"
        return ""

    async def run_command(
        self, command: str, fields: Mapping[str, Any] = {}, *, seconds: float
    ) -> DriverResponse:
        """Run a command and return its answer.

        The driver is unusable after an error. Raise ContractError if it violates the contract,
        DriverTimeoutError if there is no response within `seconds`.
        """
        number = next(self._ids)
        line = msgspec.json.encode({"id": number, "command": command, **fields}) + b"\n"
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):  # it has ended; its answer may still be readable
            self._process.stdin.write(line)
            await self._process.stdin.drain()
        try:
            line_read = await self._read_line_within(seconds)
        except TimeoutError as error:
            raise DriverTimeoutError(f"no answer to `{command}` within {seconds:g} s") from error
        except (OSError, ValueError) as error:
            raise ContractError(f"the driver ended before it answered `{command}`") from error
        if not line_read:
            raise ContractError(f"the driver ended before it answered `{command}`")
        response = _parse_response_line(line_read, number)
        violation = None if response.ok is None else answer_violation(command, response.ok)
        if violation is not None:
            raise ContractError(f"the driver answered `{command}` wrongly: {violation}")
        return response

    async def _read_line_within(self, seconds: float) -> bytes:
        """Return the next line of the program. Raise TimeoutError if there is none in time.

        On a busy machine, the time in which the program or the suite waits for a processor does not
        count, up to `_LONGEST_STRETCH` times the limit. It is measured in the second half, since
        most answers come in the first.
        """
        assert self._process.stdout is not None
        reading = asyncio.ensure_future(self._process.stdout.readline())
        try:
            await asyncio.wait((reading,), timeout=seconds / 2)
            wait_before_s = 0.0 if reading.done() else self._processor_wait_s()
            granted_s, extra_s = seconds / 2, seconds / 2
            while extra_s > 0 and not reading.done():
                granted_s += extra_s
                await asyncio.wait((reading,), timeout=extra_s)
                wait_s = self._processor_wait_s() - wait_before_s
                extra_s = min(seconds + wait_s, seconds * _LONGEST_STRETCH) - granted_s
            if reading.done():
                return reading.result()
        finally:
            reading.cancel()
        raise TimeoutError

    def _processor_wait_s(self) -> float:
        return processor_wait_s(self._process.pid) + processor_wait_s(os.getpid())

    async def stop(self) -> None:
        """Close the program's input, and kill it if it does not end soon."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), _STOP_SECONDS)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()


def _parse_response_line(line: bytes, number: int) -> DriverResponse:
    try:
        content = msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        raise ContractError(f"the driver wrote a line that is not JSON: {line[:200]!r}") from error
    if not isinstance(content, Mapping) or content.get("id") != number:
        raise ContractError(f"the driver answered another command than {number}: {line[:200]!r}")
    if content.get("unsupported") is True:
        return DriverResponse(unsupported=True)
    if "error" in content:
        return DriverResponse(error=_parse_reported_error(content["error"]))
    if not isinstance(content.get("ok"), dict):
        raise ContractError(f"the driver answered neither ok nor error: {line[:200]!r}")
    return DriverResponse(ok=content["ok"])


_NANOSECONDS = 1e9


def processor_wait_s(pid: int) -> float:
    """Return how long a process and its children were ready to run, but not running.

    The times of all threads are added. 0 where the system does not have this figure.
    """
    return sum(_thread_waits_ns(Path(f"/proc/{pid}"))) / _NANOSECONDS


def _thread_waits_ns(process: Path) -> Iterator[int]:
    with suppress(OSError):  # not Linux, or the process has ended
        for thread in (process / "task").iterdir():
            with suppress(OSError, ValueError, IndexError):  # the thread has ended
                yield int((thread / "schedstat").read_text().split()[1])
            with suppress(OSError):
                for child in (thread / "children").read_text().split():
                    yield from _thread_waits_ns(process.with_name(child))
