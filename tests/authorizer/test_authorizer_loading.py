"""Which authorizer a configuration selects, and the errors for unusable ones."""

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from kafka_shim.authorizer.acl_rules import NEWEST_RULES
from kafka_shim.authorizer.authorizer import Authorizer, StandardAuthorizer
from kafka_shim.authorizer.authorizer_loading import load_authorizer


@pytest.mark.parametrize(
    "spec",
    [
        "standard",
        "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "kafka.security.authorizer.AclAuthorizer",
        "kafka.security.auth.SimpleAclAuthorizer",
    ],
)
def test_kafkas_class_names_mean_the_standard_authorizer(spec: str) -> None:
    rules = msgspec.structs.replace(NEWEST_RULES, has_two_phase_commit=False)
    authorizer = load_authorizer(f" {spec} ", {}, rules)
    assert isinstance(authorizer, StandardAuthorizer)
    assert authorizer.rules == rules


@pytest.mark.parametrize("spec", ["", " ", "none"])
def test_no_authorizer(spec: str) -> None:
    assert load_authorizer(spec, {"super.users": "not looked at"}) is None


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "own_rules.py").write_text(
        "from kafka_shim.authorizer.authorizer import StandardAuthorizer\n"
        "class Own(StandardAuthorizer):\n"
        "    def configure(self, config):\n"
        "        self.seen = dict(config)\n"
        "class Half:\n"
        "    def configure(self, config): ...\n"
        "    def authorize(self, actor, action): ...\n"
        "made = Own()\n"
    )
    (tmp_path / "broken_rules.py").write_text("import a_module_that_is_not_there\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "own_rules"
    sys.modules.pop("own_rules", None)


def test_a_users_class_is_loaded(own_module: str) -> None:
    authorizer = load_authorizer(f"{own_module}:Own", {"any.key": "value"})
    assert isinstance(authorizer, Authorizer)
    assert authorizer.seen == {"any.key": "value"}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("com.example.MyAuthorizer", "unknown authorizer `com.example.MyAuthorizer`"),
        ("com.example.MyAuthorizer", "set -c authorizer.class.name="),
        ("own_rules:", "unknown authorizer"),
        (":Own", "unknown authorizer"),
        ("not_there:Own", "cannot import the authorizer `not_there:Own`: No module named"),
        ("broken_rules:Own", "cannot import .* No module named 'a_module_that_is_not_there'"),
        ("own_rules:Missing", "`own_rules` has no class `Missing`"),
        ("own_rules:made", "has no class `made`"),
        (
            "own_rules:Half",
            "lacks authorize_by_resource_type, create_acls, delete_acls, acls",
        ),
    ],
)
def test_classes_that_cannot_be_loaded_are_reported(
    own_module: str, spec: str, complaint: str
) -> None:
    assert own_module
    with pytest.raises(ValueError, match=complaint):
        load_authorizer(spec, {})
