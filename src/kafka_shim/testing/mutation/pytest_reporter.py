"""The part of pytest in a run with mutated ACLs: report tests, and run only selected ones.

It is registered by the plugin if the variable SHIM_MUTATION_RUN is set.
"""

import os
from collections.abc import Generator
from pathlib import Path

import msgspec
import pytest

from kafka_shim.testing.mutation.suite_run import SuiteFolder, TestNote


class MutationReporter:
    """Writes which test is running, for brokers, and its result."""

    def __init__(self, folder: str) -> None:
        self._folder = SuiteFolder(Path(folder))
        self._selected = self._folder.read_selection()
        self._process = os.environ.get("PYTEST_XDIST_WORKER", "main") + f"-{os.getpid()}"
        self._test = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        if self._selected is not None:
            left_out = [item for item in items if item.nodeid not in self._selected]
            items[:] = [item for item in items if item.nodeid in self._selected]
            config.hook.pytest_deselected(items=left_out)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._test = item.nodeid
        self._folder.write_running_test(self._process, self._test)
        try:
            return (yield)
        finally:
            self._folder.write_running_test(self._process, "")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        """Attribute what a fixture of a wider scope does to no test: others depend on it, too."""
        if fixturedef.scope == "function":
            return (yield)
        self._folder.write_running_test(self._process, "")
        try:
            return (yield)
        finally:
            self._folder.write_running_test(self._process, self._test)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        note = TestNote(item.nodeid, report.failed, call.duration)
        self._folder.append_test_note(self._process, msgspec.json.encode(note))
        return report
