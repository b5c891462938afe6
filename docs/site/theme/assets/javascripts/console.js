// The copy button of a block with prompts takes the commands, without `$` and without the output.
(() => {
  for (const code of document.querySelectorAll("pre > code")) {
    const lines = code.textContent.split("\n");
    if (!lines.some((line) => line.startsWith("$ "))) continue;
    const commands = [];
    for (let at = 0; at < lines.length; at += 1) {
      if (!lines[at].startsWith("$ ")) continue;
      let command = lines[at].slice(2);
      while (command.endsWith("\\")) command += `\n${lines[(at += 1)]}`;
      commands.push(command);
    }
    code.dataset.commands = commands.join("\n");
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-clipboard-target]");
    const code = button && document.querySelector(button.dataset.clipboardTarget);
    if (code?.dataset.commands) button.dataset.clipboardText = code.dataset.commands;
  }, true);
})();
