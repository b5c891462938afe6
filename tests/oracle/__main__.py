"""Compare the shim with a real Kafka: `python -m tests.oracle 4.3.1`.

Plays random scenarios on both and compares the responses. Exit codes: 0 all equal, 2 usage error,
3 a difference. Needs Java 17 and Maven; the jars of a release are downloaded once.
"""

import argparse
import logging
import random
import secrets
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import structlog

from kafka_shim.protocol.api_versions import parse_minor_release
from tests.oracle import peers, report, rights, story_brokers
from tests.oracle.comparing import Tally, play_both
from tests.oracle.real_kafka import MODES, missing_tools
from tests.oracle.shrinking import renamed, shrink
from tests.recordings.conformance import generate
from tests.recordings.conformance.interleaving import interleaved
from tests.recordings.conformance.matrix.access_matrix import Matrix
from tests.recordings.conformance.play import play
from tests.recordings.conformance.recording import KINDS
from tests.recordings.conformance.scenario import Scenario, load, recordings
from tests.recordings.conformance.scripts import script
from tests.recordings.peers.peer import Peer

DIFFERENT = 3
Making = Callable[[str, int], Scenario]


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    if problem := _problem(options):
        report.progress(problem)
        return 2
    make: Making = script if options.stateful else generate.scenario
    make = interleaved if options.interleaved else make
    seeds = _seeds(options.seeds, options.scripts)
    if options.matrix:
        scenes = list(Matrix(parse_minor_release(options.release)).scenes())
        seeds = seeds if options.seeds else list(range(len(scenes)))
        make = lambda _, number: scenes[number]  # noqa: E731 - the makers from seeds are functions too
    report.progress(f"Kafka {options.release}, seeds {seeds[0]}-{seeds[-1]}")
    if options.rights:
        make = rights.scenario
        seeds = seeds if options.seeds else list(range(rights.principal_count(options.release)))
    if options.broker:
        opened = peers.running(options.broker, options.release)
        make = partial(_anew, make, secrets.token_hex(3))
    elif options.interleaved:
        opened = story_brokers.real(options.release, options.brokers, tls=options.tls)
    else:
        opened = peers.real(options.release, options.mode)
    with opened as reference:
        if options.twice:
            return _compare_with_recording(options, reference)
        with _shim(options) as other:
            tally = _compare(options.release, reference, other, seeds, make)
            report.result(report.as_json(tally) if options.json else report.as_text(tally))
            if options.shrink and not options.json:
                short = _shortest(options, reference, other, tally, make)
                if options.keep:
                    _keep(options, short)
    return 0 if tally.all_equal else DIFFERENT


def _problem(options: argparse.Namespace) -> str:
    """Return what is wrong with the options, empty if nothing is."""
    if options.keep and options.mode != "authorizer":
        return "--keep requires --mode authorizer, which the recording is made with"
    if not options.interleaved and (options.brokers > 1 or options.tls):
        return "--brokers and --tls require --interleaved"
    missing = missing_tools()
    if missing and not options.broker:
        return f"a real broker needs {missing}: please install it"
    return ""


def _shim(options: argparse.Namespace) -> AbstractContextManager[Peer]:
    if options.interleaved:
        return story_brokers.child(options.release, options.brokers, tls=options.tls)
    opening = peers.child if options.shim else peers.in_process
    return opening(options.release, options.mode)


def _anew(make: Making, nonce: str, release: str, seed: int) -> Scenario:
    """Use names that are new to the broker, since it may have played the seed before."""
    scenario = make(release, seed)
    return renamed(scenario, f"{scenario.prefix}r{nonce}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("release", help="a full release number, such as 4.3.1")
    parser.add_argument("--mode", choices=MODES, default="authorizer")
    parser.add_argument("--seeds", help="FIRST-LAST (default: new ones)")
    parser.add_argument(
        "--scripts", type=int, default=20, help="number of scenarios without --seeds"
    )
    parser.add_argument(
        "--stateful", action="store_true", help="play scripts, whose requests affect each other"
    )
    parser.add_argument(
        "--interleaved",
        action="store_true",
        help="play stories of several principals whose permissions change between their steps",
    )
    parser.add_argument(
        "--brokers", type=int, choices=(1, 2), default=1, help="brokers of --interleaved"
    )
    parser.add_argument(
        "--tls", action="store_true", help="users of --interleaved connect to SASL_SSL"
    )
    parser.add_argument(
        "--matrix", action="store_true", help="play the access matrix; seeds are positions in it"
    )
    parser.add_argument(
        "--rights", action="store_true", help="play the rights matrix; seeds are principals"
    )
    parser.add_argument(
        "--shim", action="store_true", help="run the shim in its own process, with sockets"
    )
    parser.add_argument(
        "--shrink", type=int, default=3, help="number of differences to shorten (default: 3)"
    )
    parser.add_argument(
        "--keep", action="store_true", help="add shortened differences to a recording"
    )
    parser.add_argument(
        "--broker", help="PLAIN,SASL addresses of a running real broker (default: start one)"
    )
    parser.add_argument(
        "--twice",
        action="store_true",
        help="compare the recording with another run of the real broker",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    return parser


def _seeds(text: str | None, count: int) -> list[int]:
    if text is None:
        first = random.SystemRandom().randrange(1_000, 1_000_000)
        return list(range(first, first + count))
    first_text, _, last_text = text.partition("-")
    return list(range(int(first_text), int(last_text or first_text) + 1))


def _compare(
    release: str, reference: Peer, other: Peer, seeds: Iterable[int], make: Making
) -> Tally:
    tally = Tally()
    for seed in seeds:
        scenario = make(release, seed)
        known = len(tally.differences)
        tally.add(seed, scenario, *play_both(scenario, reference, other))
        for line in report.difference_lines(tally.differences[known:]):
            report.progress(line)
        report.progress(f"seed {seed}: {tally.equal.total()} of {tally.total.total()} equal")
    return tally


def _name(options: argparse.Namespace) -> str:
    name = peers.name_of(options.release, options.mode)
    return f"{name}-matrix" if options.matrix else name


def _compare_with_recording(options: argparse.Namespace, real: Peer) -> int:
    """Compare a real broker with the recording of another run of the same release."""
    name = _name(options)
    assert name in recordings(), f"missing recording {name}"
    tally = Tally()
    for number, scenario in enumerate(load(name)):
        tally.add(
            number, scenario, [step.response for step in scenario.steps], play(scenario, real)
        )
        report.progress(f"{scenario.prefix}: {tally.equal.total()} of {tally.total.total()} equal")
    report.result(report.as_json(tally) if options.json else report.as_text(tally))
    return 0 if tally.all_equal else DIFFERENT


def _shortest(
    options: argparse.Namespace, reference: Peer, other: Peer, tally: Tally, make: Making
) -> list[Scenario]:
    """Shorten some scenarios that differ, print them, and return them with the real responses."""
    by_api = {difference.step.api: difference for difference in reversed(tally.differences)}
    found = []
    for api, difference in list(by_api.items())[: options.shrink]:
        scenario = make(options.release, difference.seed)
        scenario.steps = scenario.steps[: difference.number + 1]
        differs = partial(_differs_in, api, reference, other)
        shortest = renamed(shrink(scenario, differs), f"{scenario.prefix}y")
        responses = play_both(shortest, reference, other)
        for step, response in zip(shortest.steps, responses[0], strict=True):
            step.response = response
        found.append(shortest)
        report.result(f"\n{api}, {report.shrunk_text(shortest, *responses)}")
    return found


def _keep(options: argparse.Namespace, scenarios: list[Scenario]) -> None:
    """Add scenarios to the recordings of differences found, which the tests play."""
    found = KINDS["conformance-found"].recordings
    known: dict[str, Any] = dict(found.written(options.release))
    for scenario in scenarios:
        name = f"f{len(known)}"
        known[name] = renamed(scenario, name)
    found.save(options.release, known)


def _differs_in(api: str, reference: Peer, other: Peer, scenario: Scenario) -> bool:
    wanted, got = play_both(scenario, reference, other)
    rows = zip(scenario.steps, wanted, got, strict=True)
    return any(step.api == api and first != second for step, first, second in rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
