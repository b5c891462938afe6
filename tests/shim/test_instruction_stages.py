"""The stages whose instructions `benchmarks.against` counts handle requests."""

import pytest

from benchmarks.against import stages
from benchmarks.against.kinds import KINDS
from kafka_shim.shim.request.access import Access


@pytest.mark.parametrize("stage", [stage.name for stage in stages.STAGES])
def test_each_stage_handles_a_request(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Access, "allows_bound", Access.allows_bound)  # a stage replaces it
    monkeypatch.setattr(stages, "WARM", 1)
    kind = next(kind for kind in KINDS if kind.name == "Metadata of a topic")
    stages.main(stage, kind.name, 1)
