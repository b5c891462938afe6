"""No command imports modules from the current folder."""

import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = {
    "the command": [str(Path(sys.executable).parent / "kafka-shim")],
    "the module": [sys.executable, "-m", "kafka_shim"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_no_module_of_the_current_folder_is_imported(command: list[str], tmp_path: Path) -> None:
    strange = "import sys; print('imported', __name__, file=sys.stderr); sys.exit(99)"
    for name in ("yaml", "structlog", "json", "asyncio", "shim", "protocol", "random"):
        (tmp_path / f"{name}.py").write_text(strange)
    for name in ("msgspec", "crc32c", "starlette"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(strange)
    (tmp_path / "state.yaml").write_text("topics: [orders]\n")
    options = ["run", "--state", "state.yaml", "--control", "127.0.0.1:0", "--", "true"]
    done = subprocess.run(
        [*command, *options], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert "imported" not in done.stderr
    assert done.returncode == 0, done.stderr
