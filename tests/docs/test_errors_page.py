"""docs/reference/errors.md has every error that clients meet, and says what Java retries."""

import subprocess

import pytest

from tests.clients.toolchains import java_program
from tests.docs.generated_pages.error_codes import MEANINGS, RETRIABLE, returned_errors
from tests.docs.shown import ROOT


def test_each_error_that_real_brokers_return_has_a_meaning() -> None:
    assert returned_errors() <= MEANINGS.keys()


@pytest.mark.client
@pytest.mark.timeout(300, func_only=True)
def test_retriable_errors_are_those_of_java() -> None:
    command = java_program(ROOT / "tests" / "docs" / "error_retries", "Retriable")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == RETRIABLE
