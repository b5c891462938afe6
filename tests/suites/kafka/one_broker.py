"""Runs Kafka's own tests in a random order on shared shims, which are reset between tests.

`python -m tests.suites kafka --one-broker` shows whether a reset leaves anything behind that
affects another test: all tests must have the same result as on their own shims.
"""

import random
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

from tests.suites.cache import need, progress
from tests.suites.kafka import figures
from tests.suites.kafka.running import Outcome, matching, run_class
from tests.suites.kafka.shim_host import ShimHost
from tests.suites.outcome import PASSED, Result


class Shuffle(NamedTuple):
    """The result of a run; the tests in `differing` have another result on their own shims."""

    tests: int
    passed: int
    clusters: int
    """The number of clusters that the tests have started."""
    shims: int
    """The number of shims that served these clusters."""
    differing: list[Result]


def shuffle(release: str, only: str, seed: int) -> Shuffle:
    """Run the matching classes, and the tests of each class, in a random order with this seed."""
    need("java", "javac", "mvn")
    tests: list[Result] = []
    differing: list[Result] = []
    with closing(ShimHost(release, is_shared=True)) as shared:
        for outcome in _outcomes(only, seed, shared):
            found = list(_differing(outcome, release))
            passed = sum(test.state == PASSED for test in outcome.tests)
            progress(f"    {passed} of {len(outcome.tests)} in {outcome.seconds:.0f} s")
            for test in found:
                progress(f"DIFFERS {test.name}: {test.state} on one broker\n    {test.reason}")
            tests += outcome.tests
            differing += found
        passed = sum(test.state == PASSED for test in tests)
        pool = shared.pool
        return Shuffle(len(tests), passed, pool.clusters, pool.started, differing)


def _outcomes(only: str, seed: int, host: ShimHost) -> Iterator[Outcome]:
    pattern, _, method = only.partition("#")
    names = matching(pattern)
    random.Random(seed).shuffle(names)
    for name in names:
        progress(name)
        yield run_class(name, method, host, seed)


def _differing(outcome: Outcome, release: str) -> Iterator[Result]:
    """Yield the tests that have another result on their own shims.

    Failed tests are run again, unless they fail in the stored figures too.
    """
    label = figures.label(outcome.name)
    known = {name for each in figures.load() if each["class"] == label for name in each["failed"]}
    failed = [test for test in outcome.tests if test.state != PASSED]
    for test in outcome.tests:
        if test.state == PASSED and test.name in known:
            yield _whole(label, test)
    unknown = [
        test for test in failed if test.name not in known and figures.INSIDE not in test.reason
    ]
    for method in sorted({test.name.partition("(")[0] for test in unknown}):
        with closing(ShimHost(release)) as own:
            again = {test.name: test for test in run_class(outcome.name, method, own).tests}
        for test in unknown:
            if test.name.partition("(")[0] == method and again[test.name].state != test.state:
                yield _whole(label, test)


def _whole(label: str, test: Result) -> Result:
    return test._replace(name=f"{label}.{test.name}")
