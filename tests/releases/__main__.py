"""Follow Kafka's releases: `python -m tests.releases day 4.5.0`.

day: downloads the jars, prints the differences from the last release, writes pins, message classes
and versions, records real brokers, plays the recordings against the shim, and prints a checklist of
what a person must decide. play: counts the recorded responses of a release that differ. table:
writes the table of all releases in docs/reference/releases.md. `day` needs Java 17 (with javap)
and Maven.
"""

import argparse
import json
import sys
from pathlib import Path

from tests.releases import checklist, day, table


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if options.command == "play":
        _print(json.dumps(dict(day.differing(options.release))))
    elif options.command == "table":
        table.PAGE.write_text(table.page_with(table.PAGE.read_text(), table.rows()))
    else:
        _day(options)
    return 0


def _day(options: argparse.Namespace) -> None:
    new = options.release
    old = options.against or day.newest_recorded(new)
    found = day.compare(old, new, _say, write=options.write)
    if options.record:
        day.record(new, _say)
        found += day.played(new, _say)
    for path, text in (
        (options.json, checklist.as_json(old, new, found)),
        (options.markdown, checklist.as_text(old, new, found)),
    ):
        if path is not None:
            path.write_text(f"{text}\n")
    _print(checklist.as_text(old, new, found))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.releases", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    following = commands.add_parser(
        "day", help="list the changes of a release, and the remaining decisions"
    )
    following.add_argument("release", help="a full release number, such as 4.5.0")
    following.add_argument("--against", help="default: the last recorded release")
    following.add_argument(
        "--json", type=Path, metavar="FILE", help="write the checklist as JSON too"
    )
    following.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the checklist as Markdown too"
    )
    following.add_argument(
        "--no-write", dest="write", action="store_false", help="do not change the tables"
    )
    following.add_argument(
        "--no-record",
        dest="record",
        action="store_false",
        help="start no real broker, play no recordings",
    )
    playing = commands.add_parser(
        "play", help="print the number of recorded responses that differ, as JSON"
    )
    playing.add_argument("release")
    commands.add_parser("table", help="write the table of docs/reference/releases.md")
    return parser


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
