"""The code blocks of pages work: tests, scripts and configuration."""

import ast
import importlib.util
import itertools
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.clients.toolchains import node
from tests.docs.shell import Shell
from tests.docs.shown import ROOT, Block, blocks
from tests.testing.plugin.nested import run_pytest

ALL = blocks()
SCRIPTS = [block for block in ALL if block.language == "bash"]
BROKERS = {
    "docs/guides/faults.md": "kafka-shim run --control 127.0.0.1:0",
    "docs/guides/languages.md": "kafka-shim run --control 127.0.0.1:0",
    "docs/guides/migrating.md": "kafka-shim run --control 127.0.0.1:0 --brokers 3 --topic orders:3",
    "docs/guides/tls.md": "kafka-shim run --control 127.0.0.1:0 --listener SSL://127.0.0.1:0"
    " --tls-dir certificates -c ssl.client.auth=required --super-user User:alice"
    " -c 'ssl.principal.mapping.rules=RULE:^CN=([^,]+),O=shop$/$1/,DEFAULT'",
}
"""The broker that a page's scripts expect to be running."""
RESPONSES = {
    "docs/guides/faults.md": '"error":"NOT_LEADER_OR_FOLLOWER"',
    "docs/guides/languages.md": '"name":"orders"',
    "docs/guides/migrating.md": '"leader_id":2',
    "docs/guides/tls.md": "CN=alice,O=shop  ->  User:alice",
}
SNIPPETS, PAGES = "tests/docs/test_snippets.py", "tests/project/test_pages.py"
CONTRACT = "tests/conformance/test_contract.py"
EXAMPLES = (
    "tests/clients/test_examples.py::test_an_example_is_green",
    "tests/docs/test_control_page.py::test_code_on_the_page_is_that_of_the_examples",
)
SAME_BROKER = (f"{PAGES}::test_all_describe_the_same_broker",)
_READMES = "tests/language_packages/test_readmes.py"
_CONTAINERS = "tests/language_packages/test_testcontainers.py"
_CONTAINER_BLOCKS = (
    "tests/language_packages/test_manifests.py::"
    "test_code_on_the_page_about_containers_is_that_of_tests"
)
_AS_TESTED = (
    "tests/language_packages/test_manifests.py::"
    "test_code_in_a_readme_is_that_of_a_file_that_is_tested"
)
_HOME = (
    "tests/language_packages/test_manifests.py::"
    "test_code_of_the_home_page_is_that_of_files_that_are_tested"
)
_FAULTS = (
    "tests/language_packages/test_manifests.py::"
    "test_faults_on_the_page_are_those_of_files_that_are_tested"
)
_KIT = "tests/language_packages/test_authorizer_tck.py"
RUN_BY_OTHERS: dict[tuple[str, str], tuple[str, ...]] = {
    **dict.fromkeys(
        [("docs/site/home.md", language) for language in ("py", "java", "go", "js")], (_HOME,)
    ),
    **dict.fromkeys(
        [("docs/guides/faults.md", language) for language in ("java", "go", "js")], (_FAULTS,)
    ),
    ("packages/authorizer-tck/README.md", "java"): (
        f"{_KIT}::test_the_test_on_the_package_s_page_is_that_of_the_example",
    ),
    ("docs/guides/authorizer-tck.md", ""): (f"{_KIT}::test_the_commands_of_the_guide",),
    ("tests/recordings/README.md", "py"): (
        "tests/recordings/test_recorder.py::test_the_page_s_scenario_is_recorded_and_compared",
    ),
    # not code: the functions that a request passes through
    ("docs/explanation/architecture.md", ""): (
        f"{SNIPPETS}::test_files_on_the_architecture_page_handle_requests",
    ),
    # the workflows with the package are run; those with the image need GitHub's and GitLab's
    # services, so only their addresses are compared with the image's configuration
    ("docs/guides/ci.md", "yaml"): (
        "tests/docs/test_ci_page.py::test_the_commands_work",
        "tests/docs/test_ci_page.py::test_the_image_advertises_the_address_that_clients_use",
    ),
    ("docs/guides/acl-formats.md", "yaml"): (
        f"{SNIPPETS}::test_the_rules_shown_have_every_kind_of_key",
    ),
    ("docs/guides/authentication.md", "properties"): (
        f"{SNIPPETS}::test_a_client_logs_in_with_the_properties_shown",
    ),
    ("docs/guides/authentication.md", "js"): (
        f"{SNIPPETS}::test_kafkajs_logs_in_with_the_settings_shown",
    ),
    ("docs/guides/custom-authorizer.md", "py"): (
        f"{SNIPPETS}::test_the_authorizer_is_that_of_the_example",
        "tests/shim/test_own_authorizer.py::test_an_own_authorizer_decides",
    ),
    # a copy of the example, whose tests are run
    ("docs/guides/cassettes.md", "py"): (
        EXAMPLES[0],
        f"{SNIPPETS}::test_the_test_with_a_cassette_is_that_of_the_example",
    ),
    ("docs/guides/cassettes.md", "yaml"): (
        "tests/cli/test_playback.py::test_the_service_on_the_page_plays_to_other_containers",
    ),
    ("docs/guides/container.md", "yaml"): (
        "tests/docs/test_ci_page.py::test_the_composed_broker_has_an_address_for_each_kind_of_client",
    ),
    ("docs/guides/configuration.md", "properties"): SAME_BROKER,
    ("docs/guides/configuration.md", "sh"): SAME_BROKER,
    ("docs/guides/configuration.md", "toml"): SAME_BROKER,
    ("docs/guides/configuration.md", "yaml"): (
        *SAME_BROKER,
        f"{PAGES}::test_the_state_file_is_loaded_at_startup",
    ),
    **{
        ("docs/start/connect.md", language): (f"tests/docs/test_connect_page.py::test_{name}",)
        for language, name in {
            "py": "python_libraries_connect",
            "properties": "java_connects",
            "go": "franz_go_connects",
            "js": "kafkajs_connects",
        }.items()
    },
    ("docs/guides/conformance.md", ""): (f"{SNIPPETS}::test_the_suite_prints_what_the_page_shows",),
    ("docs/guides/conformance.md", "toml"): (
        f"{SNIPPETS}::test_the_suite_accepts_the_known_failures_on_the_page",
    ),
    ("docs/guides/vectors.md", ""): (
        "tests/mutants/test_lying_brokers.py::test_the_report_on_the_page_is_that_of_a_broker",
    ),
    # not code: lines that drivers and the suite exchange
    ("docs/guides/conformance.md", "json"): (
        f"{CONTRACT}::test_the_examples_of_the_pages_satisfy_the_contract",
    ),
    ("docs/guides/tools.md", "json"): (
        f"{CONTRACT}::test_the_examples_of_the_pages_satisfy_the_contract",
    ),
    ("docs/reference/driver-contract.md", "json"): (
        f"{CONTRACT}::test_the_examples_of_the_pages_satisfy_the_contract",
    ),
    ("docs/guides/languages.md", "json"): (
        "tests/docs/test_control_page.py::test_the_response_on_the_page_has_the_fields_of_the_api",
    ),
    # copies of the examples, whose tests are run
    ("docs/guides/languages.md", "go"): EXAMPLES,
    ("docs/guides/languages.md", "java"): EXAMPLES,
    ("docs/guides/languages.md", "js"): EXAMPLES,
    ("docs/guides/acls-as-code.md", "json"): (
        "tests/cli/test_mcp.py::test_the_configuration_on_the_page_starts_the_server",
    ),
    # copies of files of the example, which the page's commands read
    ("docs/guides/acls-as-code.md", "yaml"): (
        "tests/docs/test_policy_page.py::test_the_page_shows_what_is_printed",
        "tests/docs/test_policy_page.py::test_the_files_shown_are_those_of_the_example",
    ),
    ("docs/guides/replay.md", "properties"): (
        f"{SNIPPETS}::test_a_proxy_logs_in_with_the_properties_shown",
        f"{SNIPPETS}::test_a_replay_shows_the_certificate_in_the_properties_shown",
    ),
    # needs Spark and takes a minute
    ("docs/reference/tables.md", "py"): (
        "tests/pipeline/test_tables_page.py::test_what_the_page_shows_works",
    ),
    ("docs/guides/pipeline.md", "text"): (
        "tests/pipeline/test_guide.py::test_the_guide_shows_what_is_printed",
    ),
    ("docs/start/denials.md", "text"): (
        "tests/docs/test_denials_page.py::test_the_page_shows_what_is_printed",
    ),
    ("docs/guides/troubleshooting.md", "text"): (
        "tests/docs/test_troubleshooting_page.py::test_librdkafka_prints_its_lines",
        "tests/docs/test_troubleshooting_page.py::test_kafka_python_prints_its_lines",
        "tests/docs/test_troubleshooting_page.py::test_java_prints_its_lines",
        "tests/docs/test_troubleshooting_page.py::test_kafka_shim_prints_its_lines",
    ),
    ("docs/start/tutorial.md", "text"): (
        f"{SNIPPETS}::test_the_tutorials_first_test_fails_with_the_advice_it_shows",
    ),
    **{
        ("docs/guides/testcontainers.md", language): (
            _CONTAINER_BLOCKS,
            f"{_CONTAINERS}::test_{name}",
        )
        for language, name in {"py": "python", "js": "node", "go": "go", "java": "java"}.items()
    },
    ("packages/go/README.md", "go"): (_AS_TESTED, f"{_READMES}::test_go"),
    ("packages/junit5/README.md", "java"): (_AS_TESTED, f"{_READMES}::test_junit5"),
    ("packages/junit5/README.md", "xml"): (_AS_TESTED, f"{_READMES}::test_junit5"),
    ("packages/npm/README.md", "js"): (_AS_TESTED, f"{_READMES}::test_npm"),
    ("packages/npm/README.md", "json"): (_AS_TESTED, f"{_READMES}::test_npm"),
    ("packages/npm/README.md", "ts"): (_AS_TESTED, f"{_READMES}::test_npm"),
}
"""Blocks in other languages, by page, and the tests that run or compare them."""

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]


def shown_tests() -> dict[str, str]:
    """The Python blocks of all pages, which are test files, by the name in their first line."""
    shown = [block for block in ALL if block.language == "python"]
    found = {block.name: block.text for block in shown}
    assert all(name.startswith("test_") for name in found)
    assert len(found) == len(shown)
    return found


def test_every_block_is_run_by_a_test() -> None:
    others = {
        (block.page, block.language) for block in ALL if block.language not in ("python", "bash")
    }
    assert others == set(RUN_BY_OTHERS)
    for place in itertools.chain(*RUN_BY_OTHERS.values()):
        path, _, name = place.partition("::")
        assert f"def {name}(" in (ROOT / path).read_text(), place


def only_block(page: str, language: str) -> Block:
    """Return the block of a page in a language, of which it has one."""
    [block] = [block for block in ALL if (block.page, block.language) == (page, language)]
    return block


def test_names_that_pages_import_exist() -> None:
    """Blocks that need Spark are run by slow tests only; a renamed name is found here."""
    imports = [
        (block.page, node.module, name.name)
        for block in ALL
        if block.language in ("py", "python")
        for node in ast.walk(ast.parse(block.text))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kafka_shim")
        for name in node.names
    ]
    assert (
        "docs/reference/tables.md",
        "kafka_shim.pipeline.rows.selection",
        "Selection",
    ) in imports
    for page, module, name in imports:
        found = hasattr(importlib.import_module(module or ""), name)
        assert found or importlib.util.find_spec(f"{module}.{name}"), f"{page}: {module}.{name}"


def test_the_test_with_a_cassette_is_that_of_the_example() -> None:
    shown = only_block("docs/guides/cassettes.md", "py").text
    assert shown in (ROOT / "examples" / "pytest-cassettes" / "test_shop.py").read_text()


def test_the_rules_shown_have_every_kind_of_key(tmp_path: Path) -> None:
    (tmp_path / "acls.yaml").write_text(only_block("docs/guides/acl-formats.md", "yaml").text)
    done = Shell(tmp_path, {})("kafka-shim acls --acls acls.yaml --format commands")
    given = [line.removeprefix("kafka-acls --add ") for line in done.stdout.splitlines()]
    alice, app = (
        "--allow-principal User:alice --operation",
        "--allow-principal User:app --operation",
    )
    assert sorted(given) == [
        f"{alice} Read --group billing- --resource-pattern-type prefixed",
        f"{alice} Read --operation Write --topic orders",
        f"{app} Create --cluster",
        f"{app} Write --transactional-id orders-tx",
        "--deny-principal 'User:*' --deny-host 192.0.2.7 --operation Write --topic '*'",
    ]


def test_the_authorizer_is_that_of_the_example() -> None:
    shown = only_block("docs/guides/custom-authorizer.md", "py").text
    assert shown in (ROOT / "examples" / "office_hours.py").read_text()


def test_a_client_logs_in_with_the_properties_shown(tmp_path: Path) -> None:
    """Only alice, a super user, is allowed to list ACLs on this listener."""
    block = only_block("docs/guides/authentication.md", "properties")
    (tmp_path / block.name).write_text(block.text)
    assert block.text.splitlines()[1] == "bootstrap.servers=127.0.0.1:9093"  # serve's second port
    listing = "kafka-shim acls --bootstrap-server $KAFKA_BOOTSTRAP_SERVERS_SASL_PLAINTEXT --list"
    broker = "kafka-shim run --user alice:secret --super-user User:alice -- sh -c"
    done = Shell(tmp_path, {})(f"{broker} '{listing} --command-config {block.name}'")
    assert done.returncode == 0, done.stdout + done.stderr


LISTING = """
const admin = kafka.admin();
await admin.connect();
console.log(await admin.listTopics());
await admin.disconnect();
"""


def test_kafkajs_logs_in_with_the_settings_shown(tmp_path: Path) -> None:
    """Without its settings, the client cannot list topics on this listener."""
    shown = only_block("docs/guides/authentication.md", "js").text
    program = shown.replace('"127.0.0.1:9093"', "process.argv[2]") + LISTING
    (tmp_path / "program.js").write_text(program)
    package = ROOT / "tests" / "clients" / "drivers" / "node" / "package.json"
    command = shlex.join(node([package, tmp_path / "program.js"], "program.js"))
    broker = "kafka-shim run --user alice:secret --super-user User:alice --topic orders -- sh -c"
    done = Shell(tmp_path, {})(f"{broker} '{command} $KAFKA_BOOTSTRAP_SERVERS_SASL_PLAINTEXT'")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "orders" in done.stdout


def test_the_tutorials_first_test_fails_with_the_advice_it_shows(tmp_path: Path) -> None:
    (tmp_path / "test_first.py").write_text(shown_tests()["test_first.py"])
    done = run_pytest(tmp_path)
    assert "1 failed" in done.stdout
    shown = only_block("docs/start/tutorial.md", "text").text
    said = without_numbers(done.stdout)
    for line in shown.splitlines():
        assert without_numbers(line) in said


def without_numbers(text: str) -> str:
    """Remove the version and the number of attempts, which depend on the client."""
    return re.sub(r" v\d+(, \d+ times)?", " v0", text)


def test_all_other_tests_pass(tmp_path: Path) -> None:
    others = {name: text for name, text in shown_tests().items() if name != "test_first.py"}
    for name, text in others.items():
        (tmp_path / name).write_text(text)
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout
    wanted = sum(
        len(re.findall(r"^(?:async )?def test_", text, re.MULTILINE)) for text in others.values()
    )
    wanted += 1  # one of these tests runs for two releases
    assert f"{wanted} passed" in done.stdout


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not on the PATH")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.page)
def test_the_scripts_work(script: Block, tmp_path: Path) -> None:
    (tmp_path / "script.sh").write_text(script.text)
    located = 'sed "s#http://127.0.0.1:8082#$KAFKA_SHIM_CONTROL_URL#" script.sh'
    located += " | bash -e -o pipefail"
    done = Shell(tmp_path, {})(f"{BROKERS[script.page]} -- bash -o pipefail -c '{located}'")
    assert done.returncode == 0, done.stdout + done.stderr
    assert RESPONSES[script.page] in done.stdout


def test_a_certificate_for_another_name_names_the_principal(tmp_path: Path) -> None:
    """Only alice, a super user, is allowed to list ACLs."""
    page = "docs/guides/tls.md"
    (tmp_path / "script.sh").write_text(only_block(page, "bash").text)
    settings = "security.protocol=SSL\nssl.truststore.type=PEM\nssl.keystore.type=PEM\n"
    settings += "ssl.truststore.location=certificates/ca.pem\nssl.keystore.location=alice.pem\n"
    (tmp_path / "client.properties").write_text(settings)
    listing = "kafka-shim acls --list --command-config client.properties"
    listing += " --bootstrap-server $KAFKA_BOOTSTRAP_SERVERS"
    done = Shell(tmp_path, {})(f"{BROKERS[page]} -- bash -c '. ./script.sh && {listing}'")
    assert done.returncode == 0, done.stdout + done.stderr


PROXY = """\
kafka-shim proxy --upstream $KAFKA_BOOTSTRAP_SERVERS --upstream-config upstream.properties \\
  --record trace > proxy.txt &
until grep -q '^proxy for' proxy.txt; do sleep 0.05; done
kafka-shim acls --bootstrap-server $(sed -n 's/.* on \\(.*\\), recording.*/\\1/p' proxy.txt) --list
listed=$?
kill %1
exit $listed
"""


def test_a_proxy_logs_in_with_the_properties_shown(tmp_path: Path) -> None:
    """Listing ACLs would be denied without the log-in that the file contains."""
    write_properties(tmp_path, "upstream.properties")
    (tmp_path / "proxy.sh").write_text(PROXY)
    broker = "--listener SASL_SSL://127.0.0.1:0 --tls-dir . --user alice:alice-secret"
    broker += " --super-user User:alice -c sasl.enabled.mechanisms=SCRAM-SHA-256"
    done = Shell(tmp_path, {})(f"kafka-shim run {broker} -- bash proxy.sh")
    assert done.returncode == 0, done.stdout + done.stderr


def write_properties(folder: Path, name: str) -> None:
    """Write the file of the page about replays that has this name."""
    found = {block.name: block for block in ALL if block.page == "docs/guides/replay.md"}
    (folder / name).write_text(found[name].text)


def test_a_replay_shows_the_certificate_in_the_properties_shown(tmp_path: Path) -> None:
    """Listing ACLs would be denied without the certificate that the file names."""
    write_properties(tmp_path, "target.properties")
    shell = Shell(tmp_path, {})
    listing = "kafka-shim acls --bootstrap-server $KAFKA_BOOTSTRAP_SERVERS --list"
    assert shell(f"kafka-shim run --record trace -- sh -c '{listing}'").returncode == 0
    broker = "--listener SSL://127.0.0.1:0 --tls-dir . -c ssl.client.auth=required"
    broker += " --super-user User:client -c 'ssl.principal.mapping.rules=RULE:^CN=([^,]+).*$/$1/'"
    replay = "kafka-shim replay trace --target-config target.properties"
    replay += " --target $KAFKA_BOOTSTRAP_SERVERS"
    done = shell(f"kafka-shim run {broker} -- sh -c '{replay}'")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the target answers as the recording" in done.stdout


def test_the_suite_prints_what_the_page_shows(tmp_path: Path) -> None:
    shown = only_block("docs/guides/conformance.md", "").text
    driver = ROOT / "conformance" / "drivers" / "confluent_kafka_driver.py"
    case = shown.partition(" ")[0]
    suite = f"kafka-shim conformance suite --driver 'python {driver}' --case {case}"
    done = Shell(tmp_path, {})(suite)
    assert done.returncode == 3
    assert shown.strip() in done.stdout


def test_the_suite_accepts_the_known_failures_on_the_page(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guides" / "conformance.md").read_text()
    known = only_block("docs/guides/conformance.md", "toml").text
    [command] = re.findall(
        r"^    \$ (kafka-shim .* --baseline known-failures\.toml)$", page, re.MULTILINE
    )
    shell = Shell(tmp_path, {})
    (tmp_path / "known-failures.toml").write_text(known)
    done = shell(command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "known failures, by reason:" in done.stdout


def test_files_on_the_architecture_page_handle_requests() -> None:
    way = next(block.text for block in ALL if block.page == "docs/explanation/architecture.md")
    steps = re.findall(r"^ *(?:\w+\.)?(\w+)\(.*?  +(\S+\.py)\b", way, re.MULTILINE)
    assert len(steps) == 4
    for function, path in steps:
        [*files] = ROOT.glob(path)
        assert files
        for file in files:
            assert f"def {function}(" in file.read_text() or file.name == "__init__.py", file
