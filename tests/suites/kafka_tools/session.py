"""Sessions with Kafka's command-line tools: commands, and their output on a real broker.

    # a comment
    $ kafka-console-producer --topic orders
    < a line for its standard input
    its output, stdout and stderr together
    exit 1

A command gets `--bootstrap-server` with the broker's address unless it has this option. `$ALICE`
etc. are files with the log-in of that user, `$PLAINTEXT` and `$SASL_PLAINTEXT` are addresses, and
`$(TEXT)` is a file with that text. The output of a command after `any order $` has no defined
order. A command after `until TEXT $` continues in the background after it has printed TEXT, until
the session ends.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

COMMAND = re.compile(r"(?P<is_unordered>any order )?(?:until (?P<until>.+) )?\$ (?P<command>.+)")
EXIT = "exit "


@dataclass
class Step:
    """A command, its input and its expected output; `line` is its line number in the file."""

    command: str
    line: int
    is_ordered: bool = True
    until: str = ""
    remarks: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    exit_code: int = 0

    def text(self) -> str:
        manner = f"until {self.until} " if self.until else "" if self.is_ordered else "any order "
        lines = [*self.remarks, f"{manner}$ {self.command}"]
        lines += [f"< {line}".rstrip() for line in self.given]
        lines += self.printed
        if self.exit_code:
            lines.append(f"{EXIT}{self.exit_code}")
        return "\n".join(lines) + "\n"


def load(path: Path) -> list[Step]:
    steps: list[Step] = []
    remarks: list[str] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            remarks.append(line)
        elif found := COMMAND.fullmatch(line):
            until = found["until"] or ""
            steps.append(Step(found["command"], number, not found["is_unordered"], until, remarks))
            remarks = []
        elif not steps:
            raise ValueError(f"{path}:{number}: output before the first command")
        elif line.startswith("<"):
            steps[-1].given.append(line[2:])
        elif line.startswith(EXIT):
            steps[-1].exit_code = int(line.removeprefix(EXIT))
        else:
            steps[-1].printed.append(line)
    return steps


def save(path: Path, steps: list[Step]) -> None:
    path.write_text("".join(step.text() for step in steps))
