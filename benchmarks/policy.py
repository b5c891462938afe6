"""The time of `kafka-shim policy test`, `diff`, `lint`, `plan` and `matrix` with many ACLs.

    python -m benchmarks.policy [--acls N] [--expectations N]

Reading the files is included. The time and memory of reading ACLs in YAML are measured by
themselves. The exit code is 3 if a goal for processor time or memory is missed.
"""

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kafka_shim.cli import main as kafka_shim

GOALS_S = {"test": 2.0, "diff": 3.0, "lint": 3.0, "plan": 5.0, "matrix": 3.0}
READ_GOAL_S, READ_GOAL_MIB = 3.0, 150
READ = """
import resource, sys, time
from kafka_shim.policy.acl_files import read_accepted_acls
begun = time.process_time()
count = len(read_accepted_acls(sys.argv[1:], "4.4"))
print(count, time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
ACLS, EXPECTATIONS = 100_000, 10_000
ENTRY = "\t(principal=User:u{user}, host=*, operation={operation}, permissionType=ALLOW)\n"
HEADING = (
    "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name={name},"
    " patternType={pattern})`:\n"
)


def acl_list(count: int) -> str:
    """Return the output of kafka-acls for teams with prefixes and users with their own topics."""
    parts = []
    for number in range(count):
        team, user = number % 997, number % 5003
        prefixed = number % 10 == 0
        name = f"team-{team}." if prefixed else f"team-{team}.topic-{number}"
        parts.append(HEADING.format(name=name, pattern="PREFIXED" if prefixed else "LITERAL"))
        parts.append(ENTRY.format(user=user, operation="WRITE" if number % 3 else "READ"))
    return "".join(parts)


def yaml_rules(count: int) -> str:
    """Return the ACLs of `acl_list` as rules in YAML."""
    rules = []
    for number in range(count):
        prefixed = number % 10 == 0
        name = f"team-{number % 997}.{'' if prefixed else f'topic-{number}'}"
        operation = "Write" if number % 3 else "Read"
        pattern = ", pattern: prefixed" if prefixed else ""
        rules.append(
            f"- {{principal: User:u{number % 5003}, allow: {operation}, topic: {name}{pattern}}}\n"
        )
    return "".join(rules)


def read_in_new_process(path: Path, count: int) -> str | None:
    """Read a file and print time and peak memory; return a name if a goal was missed."""
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
    )
    read, seconds, mib = map(float, done.stdout.split())
    assert read == len(set(yaml_rules(count).splitlines()))
    print(
        f"{'reading YAML':24} {seconds:7.2f} s, goal {READ_GOAL_S:.0f}; {mib:.0f} MiB,"
        f" goal {READ_GOAL_MIB}"
    )
    return "reading YAML" if seconds > READ_GOAL_S or mib > READ_GOAL_MIB else None


def expectations(count: int) -> str:
    """Return expectations: names, prefixes, activities, `nobody-but` and denials, a fifth each."""
    found = []
    for number in range(count):
        user, topic = f"User:u{number % 5003}", f"team-{number % 997}.topic-{number}"
        entry: dict[str, object] = {"principal": user, "may": "Write", "topic": topic}
        match number % 5:
            case 1:
                entry["topic"] = f"team-{number % 997}.*"
            case 2:
                entry = {"principal": user, "can": "produce-idempotent", "topic": topic}
            case 3:
                entry = {"nobody-but": [user], "may": "Write", "topic": topic}
            case 4:
                entry = {"principal": "User:eve", "may-not": "Write", "topic": f"{topic}*"}
        found.append(f"- {json.dumps(entry)}\n")
    return "".join(found)


def timed(what: str, words: list[str]) -> str | None:
    """Run a command and print its time; return the name of a measurement that missed its goal."""
    begun = time.process_time(), time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = kafka_shim(words)
    taken, waited = time.process_time() - begun[0], time.perf_counter() - begun[1]
    last = out.getvalue().splitlines()[-1][:50]
    goal = GOALS_S[words[1]]
    print(
        f"{what:24} {taken:7.2f} s, goal {goal:.0f} ({waited:.2f} s by the clock)  "
        f" exit code {code}: {last}"
    )
    return what if taken > goal else None


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--acls", type=int, default=ACLS)
    parser.add_argument("--expectations", type=int, default=EXPECTATIONS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        old, new, expected = (Path(folder, name) for name in ("old.txt", "new.txt", "e.yaml"))
        old.write_text(acl_list(args.acls))
        new.write_text(acl_list(args.acls + args.acls // 100))
        expected.write_text(expectations(args.expectations))
        rules = Path(folder, "rules.yaml")
        rules.write_text(yaml_rules(args.acls))
        print(f"{args.acls} ACLs, {args.expectations} expectations")
        nothing = _nothing(folder)
        missed = [
            read_in_new_process(rules, args.acls),
            timed("policy test", ["policy", "test", str(expected), "--acls", str(old)]),
            timed("policy diff, 1 % more", ["policy", "diff", str(old), str(new)]),
            timed("policy diff, all of it", ["policy", "diff", str(old), nothing]),
            timed("policy lint", ["policy", "lint", str(old)]),
            timed("policy plan, all of it", ["policy", "plan", str(old), nothing]),
            timed(
                "policy matrix",
                ["policy", "matrix", str(old), "--resource", "topic:team-7.*", "--csv"],
            ),
        ]
    if any(missed):
        print(f"goals missed: {'; '.join(filter(None, missed))}")
        return 3
    return 0


def _nothing(folder: str) -> str:
    path = Path(folder, "nothing.yaml")
    path.write_text("acls: []\n")
    return str(path)


if __name__ == "__main__":
    sys.exit(main())
