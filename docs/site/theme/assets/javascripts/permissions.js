// On the page of permissions: shows the APIs whose name or permissions contain a text, and the
// checks of one Kafka release.
(() => {
  const title = document.querySelector("h1#permissions-by-api");
  if (!title) return;
  const sections = [...document.querySelectorAll("article h2[id]")].map((heading) => {
    const parts = [heading];
    for (let next = heading.nextElementSibling; next && next.tagName !== "H2"; next = next.nextElementSibling) parts.push(next);
    return { parts, rows: parts.flatMap((part) => [...part.querySelectorAll("tbody tr")]) };
  });
  const released = (row) => row.cells[4].innerText.split("\n")[0].split(", ").map((range) => range.trim().split("-"));
  const number = (release) => release.split(".").reduce((sum, part) => sum * 100 + Number(part), 0);
  const known = document.getElementById("releases").dataset.releases.split(" ");

  const form = document.createElement("form");
  form.className = "permission-filter";
  form.innerHTML = '<label>API or permission <input type="search"></label> <label>Release <select><option value="">all</option></select></label>';
  const [text, release] = [form.querySelector("input"), form.querySelector("select")];
  for (const name of known) release.add(new Option(name, name));
  const update = () => {
    const wanted = text.value.trim().toLowerCase();
    const at = release.value && number(release.value);
    for (const { parts, rows } of sections) {
      let shown = 0;
      for (const row of rows) {
        const inRelease = !at || released(row).some(([first, last = first]) => number(first) <= at && at <= number(last));
        row.hidden = !inRelease || !row.innerText.toLowerCase().includes(wanted);
        shown += !row.hidden;
      }
      const isShown = rows.length ? shown > 0 : parts.some((part) => part.innerText.toLowerCase().includes(wanted));
      for (const part of parts) part.hidden = !isShown;
    }
  };
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  title.after(form);
})();
