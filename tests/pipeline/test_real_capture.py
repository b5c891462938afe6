"""The resource names in a capture of real clients are those that the broker recorded."""

from pathlib import Path

import pytest

from tests.pipeline.real_capture import captured, expected_names, names_imported
from tests.traces.captures.live import needs_capturing


@needs_capturing
@pytest.mark.client
def test_every_request_of_a_real_capture_has_its_names(tmp_path: Path) -> None:
    trace, capture, _ = captured(tmp_path)
    expected = expected_names(trace)
    named = {name for names in expected.values() for name in names}
    assert named == {"orders", "bob-app", "bob-kp", "orders-app"}
    found = names_imported(capture, tmp_path / "imported")
    assert {key: names for key, names in found.items() if key in expected} == expected
    # the broker ignores requests that arrive just before the client closes the connection
    last = dict(sorted(expected))
    assert all(number > last[port] for port, number in found.keys() - expected.keys())
