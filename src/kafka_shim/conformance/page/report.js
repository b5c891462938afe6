"use strict";
const reports = JSON.parse(document.getElementById("data").textContent);
const SYMBOLS = { passed: "✓", must: "✕", should: "!", unexercised: "○", unsupported: "–" };
const LEGEND = { passed: "passed", must: "of level must failed", should: "of level should failed", unexercised: "not exercised", unsupported: "unsupported" };
const WORDS = { passed: "passed", must: "failed", should: "failed, though not a must", unexercised: "not exercised: the client did not meet the point", unsupported: "unsupported" };
const TITLES = { kips: "KIPs", logins: "Authentications" };
const find = (id) => document.getElementById(id);
const state = { family: null, search: "", failures: false, chosen: new Set() };

function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made[key] = value; else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

const KINDS = { passed: "passed", "not exercised": "unexercised", unsupported: "unsupported" };
const kindOf = (row) => KINDS[row.outcome] ?? (row.breaks ? "must" : "should");

/** Columns: each client at each release that it was played at. */
const columns = [];
for (const report of reports) {
  for (const release of new Set(report.results.map((row) => row.kafka_version))) {
    const rows = new Map(report.results.filter((row) => row.kafka_version === release).map((row) => [row.id, row]));
    columns.push({ client: report.client, release, rows, key: `${columns.length}` });
  }
}
const cases = new Map();
for (const { rows } of columns) for (const row of rows.values()) if (!cases.has(row.id)) cases.set(row.id, row);
const families = [...new Set([...cases.keys()].map((id) => id.split(".")[0]))];

function nameOf(client) {
  const [name, ...rest] = client.split(" ");
  return [name, rest.join(" ")];
}

function counted(rows) {
  const count = { passed: 0, must: 0, should: 0, unexercised: 0, unsupported: 0 };
  for (const row of rows) count[kindOf(row)] += 1;
  return { count, played: count.passed + count.must + count.should + count.unexercised };
}

/** The columns that are shown: those whose cards were chosen, or all. */
const shown = () => columns.filter((column) => state.chosen.size === 0 || state.chosen.has(column.key));
const releases = new Set(columns.map((column) => column.release));
/** The release where it tells columns apart. */
const releaseOf = (column) => releases.size > 1 ? `Kafka ${column.release}` : "";

function card(column) {
  const { count, played } = counted(column.rows.values());
  const bar = make("div", { class: "bar", role: "img", "aria-label": `${count.passed} of ${played} passed` });
  for (const kind of ["passed", "should", "must", "unexercised"]) {
    bar.append(make("i", { class: kind, style: `flex: ${count[kind]}` }));
  }
  bar.append(make("i", { style: `flex: ${count.unsupported}` }));
  const [name, version] = nameOf(column.client);
  const counts = Object.entries(count).filter(([kind, number]) => number || kind === "passed").map(([kind, number]) =>
    make("span", { title: `${number} ${LEGEND[kind]}` }, make("i", { class: kind }, SYMBOLS[kind]), ` ${number}`));
  const choose = () => {
    if (!state.chosen.delete(column.key)) state.chosen.add(column.key);
    made.setAttribute("aria-pressed", String(state.chosen.has(column.key)));
    find("clients").classList.toggle("some", state.chosen.size > 0);
    head();
    table();
  };
  const made = make("button", { class: "client", type: "button", "aria-pressed": "false", onclick: choose },
    make("h2", {}, name), make("small", {}, [version, releaseOf(column)].filter(Boolean).join(" · ")),
    make("div", { class: "share" }, played ? `${(Math.floor(1000 * count.passed / played) / 10).toFixed(1)} %` : "–"), bar,
    make("div", { class: "counts" }, ...counts));
  return made;
}

function head() {
  document.querySelector("thead").replaceChildren(make("tr", {}, make("th"), ...shown().map((column) => {
    const [name, version] = nameOf(column.client);
    const release = releaseOf(column);
    return make("th", { scope: "col", title: column.client }, name, make("small", {}, version.split(" ")[0]),
      release ? make("small", {}, release) : null);
  })));
}

/** A family's heading, with how many of its cases each client passed. */
function heading(family) {
  const sums = shown().map((column) => {
    const { count, played } = counted([...column.rows.values()].filter((row) => row.id.startsWith(`${family}.`)));
    return make("th", { class: "sum", title: `${count.passed} of ${played} passed` }, played ? `${count.passed}/${played}` : "");
  });
  return make("tr", { class: "family" }, make("th", { scope: "rowgroup" }, TITLES[family] ?? family), ...sums);
}

function cell(column, id) {
  const row = column.rows.get(id);
  if (!row) return make("td");
  const kind = kindOf(row);
  const open = () => { location.hash = `${column.key}/${id}`; };
  const label = `${column.client}, ${id}: ${WORDS[kind]}`;
  return make("td", {}, make("button", { class: kind, type: "button", "aria-label": label, title: WORDS[kind], onclick: open }, SYMBOLS[kind]));
}

const fits = (row) => (!state.family || row.id.startsWith(`${state.family}.`))
  && (!state.search || `${row.id} ${row.what} ${row.origin}`.toLowerCase().includes(state.search))
  && (!state.failures || shown().some((column) => column.rows.get(row.id)?.outcome === "failed"));

function table() {
  const body = document.querySelector("tbody");
  const lines = [];
  let last = null;
  for (const row of cases.values()) {
    if (!fits(row)) continue;
    const family = row.id.split(".")[0];
    if (family !== last) lines.push(heading(family));
    last = family;
    const name = make("th", { scope: "row" }, make("code", {}, row.id), make("span", {}, `${row.what} `, make("em", {}, row.origin)));
    lines.push(make("tr", {}, name, ...shown().map((column) => cell(column, row.id))));
  }
  body.replaceChildren(...lines);
  find("none").hidden = lines.length > 0;
}

/** Text with the fields in it marked that tell of an error. */
function marked(text) {
  const pre = make("pre");
  for (const part of text.split(/("\w*[eE]rrorCode":-?[1-9]\d*|"throttleTimeMs":[1-9]\d*|"errorMessage":"[^"]*")/)) {
    pre.append(/^"(\w*[eE]rrorCode|throttleTimeMs|errorMessage)":/.test(part) ? make("mark", {}, part) : part);
  }
  return pre;
}

function frame(seen) {
  const errors = seen.errors.length ? ` → ${seen.errors.join(", ")}` : seen.response === null ? " → no response" : "";
  return make("div", { class: "frame" },
    make("b", {}, `${seen.api} v${seen.version}${errors}${seen.is_struck ? " (provoked)" : ""}`),
    make("small", {}, "request"), marked(seen.request),
    ...(seen.response === null ? [] : [make("small", {}, "response"), marked(seen.response)]));
}

function details() {
  const aside = find("details");
  const [key, id] = decodeURIComponent(location.hash.slice(1)).split("/");
  const column = columns.find((each) => each.key === key);
  const row = column?.rows.get(id);
  aside.hidden = !row;
  if (!row) return;
  const kind = kindOf(row);
  const section = (title, ...content) => content.some(Boolean) ? [make("h3", {}, title), ...content.filter(Boolean)] : [];
  const text = (content) => content ? make("p", {}, content) : null;
  aside.replaceChildren(
    make("button", { class: "close", type: "button", "aria-label": "close", onclick: shut }, "×"),
    make("h2", {}, row.id), make("p", {}, row.what),
    make("span", { class: `tag ${kind}` }, WORDS[kind]), make("span", { class: "tag plain" }, row.level),
    make("span", { class: "tag plain" }, row.origin), make("span", { class: "tag plain" }, `Kafka ${column.release}`),
    make("span", { class: "tag plain" }, `${row.seconds.toFixed(2)} s`),
    ...section("Client", text(column.client)),
    ...section("Expected of the client", text(row.response)),
    ...section("Expected on the wire", text(row.wire)),
    ...section("What the client reported", text(row.said)),
    ...section("Why it failed", text(row.expected && `expected: ${row.expected}`), text(row.done)),
    ...section("Requests and responses", ...row.frames.map(frame)));
  aside.querySelector("button").focus();
}

function shut() {
  history.replaceState(null, "", location.pathname + location.search);
  details();
}

const played = releases.size === 1 ? ` on Kafka ${[...releases][0]}` : "";
const clients = columns.length === 1 ? nameOf(columns[0].client)[0] : `${new Set(columns.map((column) => column.client)).size} clients`;
find("about").textContent = `${cases.size} cases${played}, ${clients}. A cell opens what was expected, what the client reported, and what was sent. ${columns.length > 1 ? "A client's card shows it alone." : ""}`;
find("clients").append(...columns.map(card));
head();
find("families").append(...families.map((family) => make("button", { type: "button", "aria-pressed": "false", onclick: (event) => {
  state.family = state.family === family ? null : family;
  for (const button of find("families").children) button.setAttribute("aria-pressed", String(button === event.target && state.family !== null));
  table();
} }, family)));
find("search").oninput = (event) => { state.search = event.target.value.toLowerCase(); table(); };
find("failures").onchange = (event) => { state.failures = event.target.checked; table(); };
find("theme").onclick = () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
};
addEventListener("hashchange", details);
addEventListener("keydown", (event) => { if (event.key === "Escape") shut(); });
table();
details();
