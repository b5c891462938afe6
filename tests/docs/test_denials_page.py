"""docs/start/denials.md shows what its commands print."""

from tests.docs.demo_broker import Demo
from tests.docs.shell import Shell
from tests.docs.shown import ROOT, blocks
from tests.docs.test_commands import of, succeeds

PAGE = "docs/start/denials.md"
ADDRESS_ON_PAGE = "127.0.0.1:9092"


def test_the_page_shows_what_is_printed(shell: Shell, demo: Demo) -> None:
    text = (ROOT / PAGE).read_text()
    [fenced] = [block.text for block in blocks() if block.page == PAGE]
    shown = {
        command.text: text.split(f"    $ {command.text}\n", 1)[1].split("\n\n", 1)[0]
        for command in of(PAGE)
        if ADDRESS_ON_PAGE in command.text and f"$ {command.text}\n" in text
    }
    assert len(shown) == 3
    for command in of(PAGE):
        if command.text not in shown:
            continue
        printed = succeeds(shell, command).replace(demo.addresses["PLAINTEXT"], ADDRESS_ON_PAGE)
        below = "\n".join(line[4:] for line in shown[command.text].splitlines())
        assert printed.strip() == (fenced if "--api" in command.text else below).strip()
