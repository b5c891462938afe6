"""What the suite tests: a client library, or a tool on top of one."""

from typing import Final

CLIENTS: Final = "clients"
TOOLS: Final = "tools"
