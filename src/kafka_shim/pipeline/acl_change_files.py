"""Files for a pull request that removes ACLs: the remaining ones, the commands, and the proof."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.policy.formats import format_acls_losslessly
from kafka_shim.policy.formats.kafka_commands import format_command
from kafka_shim.text.message_text import count_with_noun
from kafka_shim.text.output_paths import remove_own_files

REMAINING_FILES = {"strimzi": "strimzi.yaml", "terraform": "terraform.tf", "yaml": "acls.yaml"}
"""The formats of the remaining ACLs, with their files."""
COMMANDS_FILE, PROOF_FILE = "kafka-acls.sh", "PROOF.md"
CHANGE: Final = "pull-request"
CHANGE_FILES: Final = (*REMAINING_FILES.values(), COMMANDS_FILE, PROOF_FILE)


def write_acl_change_files(
    folder: Path, remaining: Sequence[Acl], removed: Sequence[Acl], proof: Sequence[str]
) -> list[str]:
    """Write the files, and return their names; a format that cannot express the ACLs is left out.

    `proof` are lines that say what was observed and checked. Raise PipelineError if the folder
    cannot be written.
    """
    commands = [format_command("--remove --force", acl) for acl in removed]
    texts = {COMMANDS_FILE: "".join(f"{command}\n" for command in commands)}
    left_out = []
    for format_name, file in REMAINING_FILES.items():
        try:
            texts[file] = format_acls_losslessly(remaining, format_name)
        except AclTextError as error:
            left_out.append(f"{file} is left out: {error}")
    heading = f"# Removal of {count_with_noun(len(removed), 'ACL')}"
    texts[PROOF_FILE] = "\n".join([heading, "", *(f"- {line}" for line in (*proof, *left_out)), ""])
    try:
        remove_own_files(folder, CHANGE, CHANGE_FILES)
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise PipelineError(f"{folder}: {error.strerror or error}") from error
    return sorted(texts)
