"""Each published vulnerability of Kafka has a row on the security page, and tests that exist."""

import ast
import re

from tests.docs.shown import ROOT

TESTS = {
    "CVE-2017-12610": (
        "tests/shim/test_published_cves.py::test_plain_refuses_another_authorization_id",
        "tests/shim/sasl/test_scram.py::test_another_authorization_id_is_refused",
    ),
    "CVE-2018-1288": (
        "tests/shim/handlers/test_fetch.py::test_a_follower_needs_cluster_action_and_no_permission_on_topics",
    ),
    "CVE-2018-17196": (
        "tests/shim/test_published_cves.py::test_a_transactional_batch_before_another_is_checked_since_2_1",
    ),
    "CVE-2021-38153": (
        "tests/shim/test_published_cves.py::test_passwords_are_compared_in_constant_time",
    ),
    "CVE-2022-34917": (
        "tests/shim/test_published_cves.py::test_tags_before_a_log_in_take_little_memory",
        "tests/shim/network/test_server.py::test_frames_before_the_log_in_have_a_lower_size_limit",
    ),
    "CVE-2023-25194": (
        "tests/shim/test_published_cves.py::test_a_login_module_in_a_setting_is_stored_as_text",
    ),
    "CVE-2023-34455": (
        "tests/shim/handlers/test_produced_content.py::test_a_bomb_of_bytes_is_refused",
        "tests/protocol/test_compression.py::test_a_bomb_is_rejected",
    ),
    "CVE-2024-27309": (
        "tests/shim/test_published_cves.py::test_the_other_acls_of_a_resource_apply_after_one_was_removed",
    ),
    "CVE-2024-56128": (
        "tests/shim/sasl/test_scram.py::test_final_nonces_with_a_correct_proof_are_accepted_as_by_kafka",
    ),
    "CVE-2025-27817": (
        "tests/shim/test_published_cves.py::test_keys_are_never_fetched",
        "tests/shim/test_published_cves.py::test_the_content_of_a_file_without_keys_is_not_in_the_error",
    ),
    "CVE-2025-27818": (
        "tests/shim/test_published_cves.py::test_a_login_module_in_a_setting_is_stored_as_text",
    ),
    "CVE-2025-27819": (
        "tests/shim/test_published_cves.py::test_a_login_module_in_a_setting_is_stored_as_text",
    ),
    "CVE-2026-33557": (
        "tests/shim/test_published_cves.py::test_without_keys_a_signed_token_is_rejected",
    ),
    "CVE-2026-33558": (
        "tests/shim/observing/test_secrets.py::test_secret_settings_reach_neither_a_trace_nor_the_history_and_replay",
        "tests/shim/observing/test_recorder.py::test_no_secret_reaches_the_disk",
    ),
    "CVE-2026-41115": (
        "tests/shim/test_published_cves.py::test_describing_a_consumer_group_needs_describe",
    ),
    "CVE-2026-83525": (
        "tests/shim/test_published_cves.py::test_apis_of_the_quorum_are_not_served",
    ),
    "CVE-2026-110985": (
        "tests/shim/test_published_cves.py::test_without_keys_a_signed_token_is_rejected",
    ),
    "CVE-2026-111073": ("tests/protocol/test_compression.py::test_a_bomb_is_rejected",),
    "CVE-2026-111108": (
        "tests/protocol/test_damage.py::test_announced_lengths_do_not_allocate_memory",
    ),
    "CVE-2026-111115": (
        "tests/shim/test_published_cves.py::test_tags_before_a_log_in_take_little_memory",
    ),
}
"""The tests of each vulnerability, as `file::function`."""


def test_every_published_vulnerability_has_a_row() -> None:
    page = (ROOT / "docs" / "explanation" / "security.md").read_text()
    rows = re.findall(r"^\| (CVE-\d{4}-\d+) \| \S.* \| \S.* \| \S.* \|$", page, re.MULTILINE)
    assert rows == list(TESTS)


def test_the_tests_of_every_vulnerability_exist() -> None:
    for cve, tests in TESTS.items():
        assert tests, cve
        for path, name in (test.split("::") for test in tests):
            tree = ast.parse((ROOT / path).read_text())
            functions = {
                node.name
                for node in ast.walk(tree)
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            }
            assert name in functions, f"{cve}: {path} has no {name}"
