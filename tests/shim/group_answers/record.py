"""Record a real broker: `python -m tests.shim.group_answers.record RELEASE PORT [SCENARIO ...]`.

RELEASE is the full one (`4.3.1`), PORT a plaintext port of a fresh broker where anonymous is a
super user and `group.initial.rebalance.delay.ms` is 0. Scenarios that are named replace those in
the recording.
"""

import sys

from tests.shim.group_answers import recording
from tests.shim.group_answers.peers import RealBroker


def main() -> None:
    release, port, *names = sys.argv[1:]
    peer = RealBroker(release, int(port))
    answers = recording.load(release) if names and release in recording.releases() else {}
    for name in recording.SCENARIOS:
        if not names or name in names:
            answers[name] = recording.played(name, peer)
    known = [name for name in recording.SCENARIOS if name in answers]
    recording.save(release, {name: answers[name] for name in known})
    print(f"{release}: {sum(map(len, answers.values()))} answers")  # noqa: T201 - for people


if __name__ == "__main__":
    main()
