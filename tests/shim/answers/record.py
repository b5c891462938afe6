"""Record real answers: `python -m tests.shim.answers.record RELEASE [SCENARIO ...]`.

RELEASE is the full one (`4.3.1`); a real broker is started (Java 17 and Maven). Scenarios that are
named replace those in the recording.
"""

import sys
import time

from tests.oracle.real_kafka import RealKafka
from tests.shim.answers import recording
from tests.shim.answers.peers import RealBroker
from tests.shim.answers.play import Play

QUICK_CLEANER = {"log.cleaner.backoff.ms": "200"}


def main() -> None:
    release, *names = sys.argv[1:]
    answers = recording.load(release) if names else {}
    with RealKafka(release, "none", QUICK_CLEANER) as kafka:
        peer = RealBroker(release, kafka.plain_port)
        for name, scenario in recording.SCENARIOS.items():
            if names and name not in names:
                continue
            play = Play(name, peer, lambda: time.time_ns() // 1_000_000)
            scenario(play)
            answers[name] = play.steps
            print(f"{name}: {len(play.steps)} answers")  # noqa: T201 - a command for people
    recording.save(release, answers)


if __name__ == "__main__":
    main()
