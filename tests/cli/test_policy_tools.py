"""ACL files of other tools, in the formats of their documentation."""

from pathlib import Path

import pytest

from kafka_shim.cli import main
from kafka_shim.policy.formats import detect_format, parse_acls_with_lines
from kafka_shim.policy.formats.trace_rule import format_acl_rule
from kafka_shim.protocol.api_versions import RELEASES

TOOLS = Path(__file__).parents[2] / "examples" / "policy" / "tools"
ACLS = {
    "TOPIC|orders-|PREFIXED|User:billing|*|READ|ALLOW",
    "TOPIC|orders-|PREFIXED|User:billing|*|DESCRIBE_CONFIGS|ALLOW",
    "GROUP|billing|LITERAL|User:billing|*|READ|ALLOW",
    "TRANSACTIONAL_ID|billing-|PREFIXED|User:billing|10.0.0.1|WRITE|ALLOW",
    "CLUSTER|kafka-cluster|LITERAL|User:billing|*|IDEMPOTENT_WRITE|ALLOW",
}
FORMS = {
    "kafka-acls.txt": "list",
    "kafka-acls.sh": "commands",
    "strimzi.yaml": "strimzi",
    "jikkou.yaml": "jikkou",
    "mongey.tf": "terraform",
    "confluent.tf": "terraform-confluent",
    "kafka-security-manager.csv": "csv",
}


def test_every_tool_has_an_example_file() -> None:
    assert {path.name for path in TOOLS.iterdir()} == set(FORMS)


@pytest.mark.parametrize(("name", "form"), FORMS.items(), ids=FORMS)
def test_example_files_of_all_tools_have_the_same_acls(
    name: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (TOOLS / name).read_text()
    assert detect_format(text) == form
    placed = parse_acls_with_lines(text)
    assert {format_acl_rule(acl) for acl, _ in placed} == ACLS
    assert all(0 < line <= len(text.splitlines()) for _, line in placed)
    files = [str(TOOLS / "kafka-acls.txt"), str(TOOLS / name)]
    assert main(["policy", "diff", *files, "--fail-on", "any"]) == 0
    assert capsys.readouterr().out == "no difference: both sets decide every access alike\n"


def test_the_same_acls_in_several_files_are_duplicates(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "lint", *(str(TOOLS / name) for name in FORMS)]) == 3
    *found, total = capsys.readouterr().out.splitlines()
    count = f"{len(ACLS) * (len(FORMS) - 1)} findings in {len(ACLS) * len(FORMS)} ACLs"
    assert total == f"{count} for Kafka {RELEASES[-1]}"
    assert all(": duplicate: " in line for line in found)


def test_resources_of_two_providers_in_one_folder_may_be_of_two_clusters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["policy", "lint", str(TOOLS)]) == 2
    assert "tools: ACLs of several clusters, give those of one" in capsys.readouterr().err
