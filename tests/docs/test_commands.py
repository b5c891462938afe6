"""Each command on a page runs literally, or RUN_BY_OTHERS names the test that runs it."""

import re

import pytest

from tests.clients.toolchains import need
from tests.docs.demo_broker import Demo, replacements
from tests.docs.shell import Shell
from tests.docs.shown import ROOT, Command, commands, pages

ALL = commands()

RUN_BY_OTHERS = {
    "README.md: make run": "tests/docs/test_commands.py::"
        "test_the_readme_shows_what_make_run_prints",
    "README.md: make test": ".ci/run",
    "docs/start/install.md: pip install kafka-shim": "tests/packaging/test_package.py::"
        "test_the_command_that_an_error_shows_works",
    "docs/start/install.md: pip install 'kafka-shim[pytest]'": "tests/packaging/test_package.py::"
        "test_the_command_that_an_error_shows_works",
    "docs/start/install.md: pip install 'kafka-shim[control]'": "tests/packaging/test_package.py::"
        "test_the_command_that_an_error_shows_works",
    "docs/start/install.md: chmod +x kafka-shim-linux-x64":
        "tests/packaging/test_binary.py::test_the_commands_of_the_page_run_it",
    "docs/start/install.md: ./kafka-shim-linux-x64 run --topic orders -- make test":
        "tests/packaging/test_binary.py::test_the_commands_of_the_page_run_it",
    "tests/recordings/README.md: git config diff.recording.textconv"
    " '.venv/bin/python -m tests.recordings.show'":
        "tests/recordings/test_store.py::"
        "test_git_shows_what_changed_in_a_recording_as_the_page_says",
    "vectors/README.md: kafka-shim vectors run vectors/4.4.0 --bootstrap-server 127.0.0.1:9092"
    " --sasl-server 127.0.0.1:9093":
        "tests/cli/test_vectors.py::test_a_broker_that_answers_as_real_ones_is_equal",
    "docs/guides/vectors.md: kafka-shim vectors run vectors/4.4.0 --bootstrap-server 127.0.0.1:9092"
    " --sasl-server 127.0.0.1:9093":
        "tests/cli/test_vectors.py::test_a_broker_that_answers_as_real_ones_is_equal",
    "docs/guides/vectors.md: kafka-shim vectors run vectors/4.4.0/rules.json"
    " --bootstrap-server 127.0.0.1:9092 --sasl-server 127.0.0.1:9093":
        "tests/mutants/test_lying_brokers.py::test_a_broker_without_mistakes_passes",
    "docs/guides/conformance.md: kafka-shim conformance suite"
    ' --driver "python conformance/drivers/confluent_kafka_driver.py"'
    " --case 'denials.*-acls.*' --baseline known-failures.toml":
        "tests/docs/test_snippets.py::test_the_suite_accepts_the_known_failures_on_the_page",
    "vectors/README.md: python vectors/examples/compare_errors.py vectors/4.4.0/requests.json"
    " 127.0.0.1:9092 127.0.0.1:9093":
        "tests/recordings/test_vector_example.py::test_the_example_finds_no_difference_in_the_shim",
    "tests/recordings/README.md: python -m tests.releases day 4.4.0 --against 4.3.1"
    " --no-write --no-record --markdown 4.4.md":
        "tests/releases/test_day.py::test_the_command_of_the_page_makes_a_checklist",
    "docs/guides/persistence.md: sqlite3 -readonly data/kafka-shim.db"
    " \"SELECT key, value FROM kept WHERE part = 'group'\"":
        "tests/shim/storage/test_serving.py::test_the_queries_of_the_page_run",
    "docs/guides/persistence.md: sqlite3 -readonly data/kafka-shim.db"
    ' "SELECT topic, partition, count(*) FROM records GROUP BY 1, 2"':
        "tests/shim/storage/test_serving.py::test_the_queries_of_the_page_run",
    "docs/guides/acls-as-code.md: kafka-shim policy plan examples/policy/acls"
    " --bootstrap-server 127.0.0.1:9092 --out plan.json":
        "tests/cli/test_policy_apply.py::test_a_saved_plan_is_applied_and_undone",
    "docs/guides/acls-as-code.md: kafka-shim policy apply plan.json"
    " --bootstrap-server 127.0.0.1:9092":
        "tests/cli/test_policy_apply.py::test_a_saved_plan_is_applied_and_undone",
    "docs/guides/least-acls.md: kafka-shim least-acls --from-log kafka-authorizer.log":
        "tests/cli/test_least_acls.py::test_a_log_of_a_real_broker_shows_the_acls_that_are_needed",
    "docs/guides/import.md: kafka-shim trace import --input-format pcap capture.pcapng trace":
        "tests/cli/test_trace_captures.py::test_an_exported_capture_is_imported",
    "docs/guides/import.md: kafka-shim trace import --input-format audit-log"
    " kafka-authorizer.log trace":
        "tests/cli/test_trace_import.py::"
        "test_lines_of_an_audit_log_are_imported_as_accesses",
    "docs/start/install.md: pip install './[pytest]'":
        "tests/docs/test_tutorial.py::test_the_tutorial_works_in_a_new_environment",
    "docs/start/tutorial.md: pip install './[pytest]' confluent-kafka":
        "tests/docs/test_tutorial.py::test_the_tutorial_works_in_a_new_environment",
    "docs/guides/mutation.md: pytest --kafka-mutate-acls test_shop.py":
        "tests/docs/test_mutation_page.py::test_the_example_prints_what_the_page_shows",
    "docs/guides/mutation.md: kafka-shim run --mutate-acls --acls acls.yaml --topic orders"
    " -- pytest tests":
        "tests/testing/mutation/test_mutate_acls.py::test_the_tests_that_notice_are_named",
    **dict.fromkeys(
        (
            "docs/guides/mutation.md: kafka-shim run --mutate-acls -- go test -count=1 ./...",
            (
                "docs/guides/mutation.md: kafka-shim run --mutate-acls --jobs 1 -- sh -c"
                " 'mvn -q test; code=$?; cp target/surefire-reports/*.xml {results}; exit $code'"
            ),
            (
                "docs/guides/mutation.md: kafka-shim run --mutate-acls -- node --test"
                " --test-timeout=15000 --test-reporter=junit"
                " --test-reporter-destination={results}/tests.xml"
            ),
        ),
        "tests/testing/mutation/test_languages.py::test_a_missing_acl_is_noticed",
    ),
    "docs/guides/tools.md: kafka-shim conformance suite --profile tools"
    ' --driver "python conformance/drivers/admin_tool.py confluent_kafka_driver"':
        "tests/docs/test_tools_page.py::test_the_results_of_an_admin_client",
    "docs/start/connect.md: kafka-shim serve --listener PLAINTEXT://127.0.0.1:9092"
    " --listener SASL_PLAINTEXT://127.0.0.1:9093 --listener SASL_SSL://127.0.0.1:9094"
    " --tls-dir certificates --user alice:alice-secret --super-user User:alice --topic orders"
    " -c sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER":
        "tests/docs/test_connect_page.py::test_python_libraries_connect",
    "docs/guides/authorizer-tck.md: make packages PACKAGE=authorizer-tck":
        "tests/language_packages/test_authorizer_tck.py::test_the_commands_of_the_guide",
    "docs/guides/authorizer-tck.md: java -jar dist/kafka-authorizer-tck-0.1.0.jar"
    " --classpath plug-in --classpath 'kafka/libs/*' --rule deny-first --rule prefixes --rule hosts"
    " --class 'io.github.kafkashim.tck.WrongAuthorizers$IgnoresDenyOnPrefixes'":
        "tests/language_packages/test_authorizer_tck.py::test_the_commands_of_the_guide",
}  # fmt: skip
"""Commands that need more than a shell, and the tests that run them."""


def key(command: Command) -> str:
    return f"{command.page}: {command.text}"


def is_spark(command: Command) -> bool:
    return command.page == "docs/guides/pipeline.md"


def is_benchmark(command: Command) -> bool:
    return command.page == "benchmarks/README.md"


def is_suite(command: Command) -> bool:
    return command.text.startswith("python -m tests.suites ")


def is_example(command: Command) -> bool:
    """Return whether test_the_page_works_in_a_copy of tests/clients/test_examples.py runs it, or
    tests/language_packages/test_readmes.py.
    """
    return command.page.startswith(("examples/", "packages/"))


def is_plain(command: Command) -> bool:
    return command.program in ("kafka-shim", "python") and not (
        is_spark(command)
        or is_benchmark(command)
        or is_suite(command)
        or is_example(command)
        or key(command) in RUN_BY_OTHERS
    )


def of(page: str) -> list[Command]:
    return [command for command in ALL if command.page == page]


def test_every_command_is_run_by_a_test() -> None:
    kinds = (is_plain, is_spark, is_benchmark, is_suite, is_example)
    nobody = [
        str(command)
        for command in ALL
        if key(command) not in RUN_BY_OTHERS and sum(kind(command) for kind in kinds) != 1
    ]
    assert not nobody, "run these commands here, or name the test that does in RUN_BY_OTHERS"


def test_named_tests_of_commands_exist() -> None:
    assert RUN_BY_OTHERS.keys() <= {key(command) for command in ALL}
    for place in RUN_BY_OTHERS.values():
        path, _, name = place.partition("::")
        assert (f"def {name}(" if name else "make test") in (ROOT / path).read_text()


def succeeds(shell: Shell, command: Command, timeout_s: float = 60) -> str:
    """Return the output; exit code 3 is success: a denial, a finding or a failed client."""
    if re.search(r"\bkafka-shim serve\b", command.text):
        text = command.text
        if "--listener" not in text:
            text += " --listener PLAINTEXT://127.0.0.1:0"
        assert shell.until("[KafkaServer", text) == 0
        return ""
    done = shell(command.text, timeout_s)
    judging = r"kafka-shim (explain|conformance (suite|run|check)|policy lint) "
    expected = 3 if re.search(judging, command.text) else 0
    assert done.returncode == expected, (str(command), done.stdout, done.stderr)
    return done.stdout


@pytest.mark.parametrize("page", sorted({command.page for command in ALL if is_plain(command)}))
def test_the_commands_of_a_page_work(page: str, shell: Shell) -> None:
    for command in filter(is_plain, of(page)):
        succeeds(shell, command)


def test_the_readme_shows_what_make_run_prints(demo: Demo) -> None:
    shown = shown_output("$ make run\n")
    printed = "\n".join(demo.lines)
    for address, real in replacements(demo.addresses).items():
        printed = printed.replace(real, address)
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    start = lines.index(shown[0])
    assert lines[start : start + len(shown)] == shown
    assert "\nPORT ?= 9092\n" in (ROOT / "Makefile").read_text()


def test_the_home_page_of_the_site_shows_what_the_readme_shows() -> None:
    home = (ROOT / "docs" / "site" / "home.md").read_text()
    shown = home.split("    $ kafka-shim explain ", 1)[1].split("\n\n", 1)[0]
    lines = [line.strip() for line in f"$ .venv/bin/kafka-shim explain {shown}".splitlines()]
    printed = shown_output("$ make run\n")
    assert printed[-len(lines) :] == lines


def test_the_readme_shows_the_last_line_of_pytest() -> None:
    [line] = shown_output("$ make test\n")
    assert re.fullmatch(r"=+ \d+ passed, \d+ skipped in \d+\.\d\ds \(\d:\d\d:\d\d\) =+", line)


def shown_output(command: str) -> list[str]:
    """Return the lines below a command on README, without their indentation."""
    block = (ROOT / "README.md").read_text().split(command, 1)[1].split("\n\n", 1)[0]
    return [line.strip() for line in block.splitlines()]


def test_suggestions_of_make_run_work(demo: Demo, shell: Shell) -> None:
    found = [line.strip() for line in demo.lines if line.startswith("    .venv/")]
    assert len(found) == 3
    for command in found:
        assert succeeds(shell, Command("examples/demo.py", 0, command)).strip()


def test_make_targets_on_pages_exist() -> None:
    """Targets in sentences count, too."""
    for page in pages():
        makefiles = {ROOT / "Makefile", (ROOT / page).with_name("Makefile")}
        rules = {
            rule
            for makefile in makefiles
            if makefile.exists()
            for rule in re.findall(r"^([\w/-]+):", makefile.read_text(), re.MULTILINE)
        }
        target = r"(?:^ {4}|`)make (?:-C \S+ )?([a-z/-]+)"
        named = re.findall(target, (ROOT / page).read_text(), re.MULTILINE)
        assert rules.issuperset(named), page


def test_extras_on_pages_exist() -> None:
    known = set(re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(), re.MULTILINE))
    for page in pages():
        named = re.findall(
            r"pip install '[^'\[]+\[([\w,]+)\]'|\[extra\]\([^)]*\) `(\w+)`",
            (ROOT / page).read_text(),
        )
        assert {name for both in named for name in "".join(both).split(",")} <= known, page


# ------------------------------------------------------------------ commands that take minutes

QUICK = {
    "arrays": "--kib 16",
    "soak": "--minutes 1",
    "codec": "--rounds 1",
    "connections": "--connections 200",
    "decide": "--acls 2000",
    "pipeline": "--requests 3000 --accesses 3000 --acls 300 --files 50 --only S1,S3,files",
    "policy": "--acls 2000 --expectations 200",
    "fixture": "--rounds 1",
    "size": "--acls 6000 --topics 6000 --groups 100 --connections 100 --records 64",
    "start": "--rounds 1",
    "suites": "--only kgo --on shim --tests TestPing",
}
"""Options that make a benchmark short; its figures do not matter here."""


@pytest.mark.heavy
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "command",
    [command for command in ALL if is_benchmark(command)],
    ids=lambda command: command.text,
)
def test_a_benchmark_measures(command: Command, shell: Shell) -> None:
    """Exit code 3, a missed goal, is accepted: the machine may be busy."""
    [name] = re.findall(r"benchmarks[/.](\w+)", command.text)
    done = shell(f"{command.text} {QUICK.get(name, '')}", timeout_s=500)
    assert done.returncode in (0, 3), (done.stdout, done.stderr)
    assert re.search(r"\d", done.stdout)


@pytest.mark.heavy
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "command", [command for command in ALL if is_suite(command)], ids=lambda command: command.text
)
def test_a_suite_is_run(command: Command, shell: Shell) -> None:
    tools = ["go"] + (["java", "mvn"] if "--against real" in command.text else [])
    need("kgo", *tools)
    done = shell(f"{command.text} --only TestPing", timeout_s=800)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert " 0 failed" in done.stdout
