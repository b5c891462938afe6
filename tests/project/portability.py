"""Places that use what only Unix has, and why each is safe: `python -m tests.project.portability`.

`make lint` fails on a place without an entry, and on an entry without a place.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

from tests.docs.shown import ROOT

UNIX_ONLY: Final = re.compile(
    r"\bimport (?:fcntl|grp|pwd|resource|termios|tty|pty|syslog)\b"
    r"|\bos\.(?:fork|forkpty|getpgrp|getpgid|getuid|geteuid|kill|killpg|mkfifo|nice|pread|pwrite"
    r"|setsid|tcgetpgrp|uname|wait|waitpid|O_NOCTTY|O_DIRECTORY|O_CLOEXEC|sysconf|chown|symlink)\b"
    r"|\bsignal\.(?:SIGKILL|SIGHUP|SIGUSR1|SIGUSR2|SIGCHLD|SIGPIPE|SIGALRM|alarm|setitimer|pause)\b"
    r"|\b(?:add_signal_handler|add_reader|add_writer|preexec_fn|start_new_session|process_group)\b"
    r"|\bselect\.(?:poll|epoll|kqueue|PIPE_BUF)\b"
    r"|\bsocket\.(?:AF_UNIX|SO_REUSEPORT|TCP_CORK|TCP_QUICKACK|TCP_USER_TIMEOUT|SO_REUSEADDR)\b"
    r"|[\"']/(?:dev|proc|tmp|etc)\b|\.symlink_to\("
)
SAFE: Final = {
    "policy/formats/script_commands.py": "a name in a script that is read, and not run",
    "pipeline/spark/session.py": "the heap is Spark's own without os.sysconf",
    "pipeline/spark/lake.py": "`pipeline ingest` is refused on Windows",
    "cli/open_files_limit.py": "returns early on Windows",
    "conformance/driver.py": "0 where there is no /proc",
    "shim/control/http_server.py": "only if the loop reports pending connections, and on POSIX",
    "testing/mutation/suite_run.py": "groups of processes are used on POSIX only",
    "text/logs.py": "a stream without `select.poll` is written as usual",
    "shim/network/listening_sockets.py": "the option is set on POSIX only",
    "shim/settings/image_variables.py": "a folder of the container images, which are of Linux",
    "shim/signals.py": "returns early on Windows",
    "shim/storage/locked_directory.py": "--data-dir is refused on Windows",
    "shim/storage/database.py": "finds nothing without /proc",
}
"""Files with such places, below src/kafka_shim, and why they work elsewhere."""


def unix_only_places() -> Iterator[tuple[str, int, str]]:
    """Yield the file, line number and text of each place in the package."""
    names = subprocess.run(
        ["git", "ls-files", "src/kafka_shim/*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    for name in names:
        if name.startswith("src/kafka_shim/protocol/messages/"):
            continue
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            if UNIX_ONLY.search(line.partition("  #")[0]):
                yield name.removeprefix("src/kafka_shim/"), number, line.strip()


def main() -> int:
    """Print places without a reason and reasons without a place; return 1 if there are any."""
    places = list(unix_only_places())
    unexplained = [place for place in places if place[0] not in SAFE]
    lines = [f"src/kafka_shim/{name}:{at}: only on Unix: {line}" for name, at, line in unexplained]
    stale = sorted(set(SAFE) - {name for name, _, _ in places})
    lines += [f"tests/project/portability.py: {name} has no such place" for name in stale]
    lines.append(f"{len(places)} places in {len(SAFE)} files need Unix, each with a reason")
    sys.stdout.write("\n".join((*lines, "")))
    return int(bool(unexplained or stale))


if __name__ == "__main__":
    sys.exit(main())
