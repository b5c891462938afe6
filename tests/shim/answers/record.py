"""Record real answers: `python -m tests.shim.answers.record RELEASE PORT [SCENARIO ...]`.

RELEASE is the full one (`4.3.1`), PORT a plaintext port where anonymous is a super user. Scenarios
that are named replace those in the recording.
"""

import sys
import time

from tests.shim.answers import recording
from tests.shim.answers.peers import RealBroker
from tests.shim.answers.play import Play


def main() -> None:
    release, port, *names = sys.argv[1:]
    peer = RealBroker(release, int(port))
    answers = recording.load(release) if names else {}
    run = time.time_ns() // 1_000_000_000  # a broker may be used more than once
    for name, scenario in recording.SCENARIOS.items():
        if names and name not in names:
            continue
        play = Play(f"{name}-{run:x}", peer, lambda: time.time_ns() // 1_000_000)
        scenario(play)
        answers[name] = play.steps
        print(f"{name}: {len(play.steps)} answers")  # noqa: T201 - a command for people
    recording.save(release, answers)


if __name__ == "__main__":
    main()
