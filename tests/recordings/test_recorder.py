"""Scenarios are recorded; a fake broker with fixed responses replaces the real one."""

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.docs.shown import blocks
from tests.recordings.comparing import differing
from tests.recordings.kinds import KINDS
from tests.recordings.recorder import Kind, brokers, record
from tests.recordings.records.play import Play
from tests.recordings.scenarios import by_name
from tests.recordings.store import Recordings, Steps


class Pretended:
    """A fake broker that starts at once and keeps its settings."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.settings = settings
        self.is_up = False

    def __enter__(self) -> "Pretended":
        self.is_up = True
        return self

    def __exit__(self, *_: object) -> None:
        self.is_up = False


def kind(folder: Path, response: str = "first") -> Kind:
    def play(name: str, peer: Any) -> Steps:
        assert peer.is_up
        return [(name, [response, dict(peer.settings)])]

    return Kind(
        Recordings(folder),
        lambda release: ("a", "b", "c"),
        play,
        own_settings={"b": {"policy": "none"}},
        start=lambda release, mode, settings: Pretended(settings),
        connect=nullcontext,
    )


def test_scenarios_with_settings_have_a_broker_of_their_own(tmp_path: Path) -> None:
    assert list(brokers(kind(tmp_path), "4.3.1", ["a", "b", "c"])) == [
        ({}, ["a", "c"]),
        ({"policy": "none"}, ["b"]),
    ]
    assert list(record(kind(tmp_path), "4.3.1")) == [f"{name} recorded" for name in "acb"]
    assert kind(tmp_path).recordings.load("4.3.1") == {
        "a": [("a", ["first", {}])],
        "b": [("b", ["first", {"policy": "none"}])],
        "c": [("c", ["first", {}])],
    }


def test_scenarios_that_are_named_replace_those_in_the_recording(tmp_path: Path) -> None:
    list(record(kind(tmp_path), "4.3.1"))
    list(record(kind(tmp_path, "second"), "4.3.1", ["c"]))
    responses = kind(tmp_path).recordings.load("4.3.1")
    assert list(responses) == ["a", "b", "c"]
    assert [steps[0][1][0] for steps in responses.values()] == ["first", "first", "second"]


def test_the_page_s_scenario_is_recorded_and_compared(tmp_path: Path) -> None:
    [text] = [block.text for block in blocks() if block.page == "tests/recordings/README.md"]
    module = ModuleType("tests.recordings.records.size_scenarios")
    exec(text, vars(module))
    scenarios = by_name([module])
    assert list(scenarios) == ["size-too_large"]

    def played(name: str, peer: Any) -> Steps:
        play = Play(name, peer)
        scenarios[name](play)
        return play.steps

    size = KINDS["records"]._replace(
        recordings=Recordings(tmp_path), scenarios=lambda release: scenarios, play=played
    )
    in_place_of_real = size._replace(
        start=lambda *broker: nullcontext(size.shim(*broker)), connect=nullcontext
    )
    assert list(record(in_place_of_real, "4.3.1")) == ["size-too_large recorded"]
    assert [path.name for path in tmp_path.iterdir()] == ["4.3.1.json.gz"]
    labels, responses = zip(*size.recordings.steps("4.3.1", "size-too_large"), strict=True)
    assert labels == ("100 bytes", "2000 bytes", "what was appended")
    assert "'error_code': 10" in str(responses[1])
    assert differing(size, "4.3.1", "size-too_large") == []


def test_every_recorded_scenario_belongs_to_its_kind() -> None:
    for of_kind in KINDS.values():
        for release in of_kind.recordings.releases():
            assert set(of_kind.recordings.names(release)) <= set(of_kind.scenarios(release))
