import pytest

from kafka_shim.traces.replay import response_comparison, target_cluster


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten how long a replay asks again for what is planted, and so does not come."""
    monkeypatch.setattr(response_comparison, "READ_S", 0.2)
    monkeypatch.setattr(target_cluster, "SETTLE_S", 0.2)
    monkeypatch.setattr(target_cluster, "ACL_S", 0.2)
