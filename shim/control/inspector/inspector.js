// The page: asks the control API twice a second and shows what is new; of a recording, all there is.

import { acls, decisions, detail, element, faults, matrix, requests } from "./views.js";

const POLL_MS = 500;
const KEPT = 10000; // as many as a broker keeps
const SHOWN = 500;
const AGAIN = 200; // so far back an answer is waited for
const TABS = ["requests", "decisions", "acls", "matrix", "faults"];
const RECORDED = ["requests", "decisions"]; // a recording has these alone

const $ = (id) => document.getElementById(id);
const views = { requests, decisions, acls, matrix, faults: faults(act) };
const state = {
  tab: "requests", paused: false, data: {}, after: { requests: 0, decisions: 0 },
  kept: { requests: [], decisions: [] }, selected: null, drawn: "",
  denied: { only: false, after: 0, numbers: new Set() }, // numbers of requests with a denied access
};
const texts = new WeakMap(); // what the filter looks at, by row

class Refused extends Error {}

async function ask(method, path, body) {
  const token = sessionStorage.getItem("token");
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const options = { method, headers, body: body && JSON.stringify(body) };
  const response = await fetch(path, options);
  if (response.status === 401) {
    if (sessionStorage.getItem("token") === token) newToken(); // else another question got it
    return ask(method, path, body);
  }
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer.error);
  return answer;
}

function newToken() {
  const given = prompt("This broker wants its control token:");
  if (given === null) {
    if (!state.paused) pause();
    throw new Refused("without the control token there is nothing to see");
  }
  sessionStorage.setItem("token", given);
}

/** Change something, then show how it is now. */
async function act(method, path, body) {
  try {
    await ask(method, path, body);
    note("");
  } catch (error) {
    note(error.message, true);
  }
  await refresh();
}

async function refresh() {
  const health = await ask("GET", "health");
  if (health.recording) return recorded(health);
  const text = `Kafka ${health.release} · ${health.connections} connections · `
    + `up ${Math.floor(health.uptime_ms / 1000)} s`;
  status(text, false);
  const name = state.tab;
  if (name in state.kept) await Promise.all([more(name), moreDenied()]);
  else state.data[name] = await ask("GET", name);
  draw();
}

/** Read what is left of a recording, which does not change. */
async function recorded(health) {
  for (const name of TABS) $(`tab-${name}`).hidden = !RECORDED.includes(name);
  $("pause").hidden = true;
  status(`recording ${health.recording} · ${health.requests} requests`, false);
  const name = state.tab;
  for (let last = -1; last < state.after[name];) {
    last = state.after[name];
    const found = await ask("GET", `${name}?after=${last}`);
    state.after[name] = found.last;
    state.kept[name] = state.kept[name].concat(found[name]);
  }
  await moreDenied();
  draw();
}

/**
 * Rows since the last time, and again those of late that had no answer yet. After a restart of the
 * broker, from the beginning.
 */
async function more(name) {
  const old = state.kept[name];
  const waiting = old.slice(-AGAIN).find((row) => row.errors === null);
  const after = waiting ? waiting.number - 1 : state.after[name];
  const found = await ask("GET", `${name}?after=${after}`);
  const isAnew = found.last < state.after[name];
  state.after[name] = isAnew ? 0 : found.last;
  const known = isAnew ? [] : old.filter((row) => row.number <= after);
  state.kept[name] = isAnew ? [] : known.concat(found[name]).slice(-KEPT);
}

/** Which requests had a denied access, since the last time; all there are of a recording. */
async function moreDenied() {
  const { denied } = state;
  for (let last = -1; last < denied.after;) {
    last = denied.after;
    const found = await ask("GET", `decisions?allowed=false&after=${last}`);
    if (found.last < last) Object.assign(denied, { after: 0, numbers: new Set() });
    else denied.after = found.last;
    for (const row of found.decisions) if (!row.allowed) denied.numbers.add(row.number);
  }
  $("denied-count").textContent = denied.numbers.size;
}

async function tick() {
  if (!state.paused && !document.hidden) {
    try {
      await refresh();
    } catch (error) {
      status(error instanceof Refused ? error.message : "the broker does not answer", true);
    }
  }
  setTimeout(tick, POLL_MS);
}

function status(text, isLost) {
  if ($("broker").textContent !== text) $("broker").textContent = text;
  $("broker").classList.toggle("lost", isLost);
}

function note(text, isBad = false) {
  $("note").textContent = text;
  $("note").hidden = !text;
  $("note").classList.toggle("bad", isBad);
}

// ---------------------------------------------------------------- rows

function rowsOf(name) {
  if (name in state.kept) return state.kept[name].slice().reverse();
  const data = state.data[name];
  if (!data) return [];
  return name === "matrix" ? (data.topics.length ? data.rows : []) : data[name];
}

function matching(rows) {
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = words.filter((word) => word[0] !== "-");
  const unwanted = words.filter((word) => word[0] === "-").map((word) => word.slice(1)).filter(Boolean);
  const { only, numbers } = state.denied;
  return rows.filter((row) => {
    if (only && state.tab === "requests" && !numbers.has(row.number)) return false;
    if (only && state.tab === "decisions" && row.allowed) return false;
    const text = textOf(row);
    return wanted.every((word) => text.includes(word)) && !unwanted.some((word) => text.includes(word));
  });
}

/** What the row shows, and what it is about, for the filter. */
function textOf(row) {
  if (!texts.has(row)) {
    const cells = views[state.tab].cells(row).map((cell) => cell.text ?? cell.node.textContent);
    const request = row.request ? JSON.stringify(row.request) : "";
    texts.set(row, `${cells.join(" ")} ${request}`.toLowerCase());
  }
  return texts.get(row);
}

function draw() {
  const view = views[state.tab];
  const data = state.data[state.tab];
  const found = matching(rowsOf(state.tab));
  const rows = found.slice(0, SHOWN);
  const drawn = JSON.stringify([state.tab, rows, found.length, state.selected, data?.topics]);
  if (drawn === state.drawn) return; // nothing moves under the pointer without need
  state.drawn = drawn;
  const focused = document.activeElement?.dataset?.key;
  const columns = typeof view.columns === "function" ? (data ? view.columns(data) : []) : view.columns;
  const head = element("tr", {}, ...columns.map((text) => element("th", { scope: "col", text })));
  $("rows").replaceChildren(
    element("caption", { text: state.tab }),
    element("thead", {}, head),
    element("tbody", {}, ...rows.map((row) => line(view, row))),
  );
  $("rows").hidden = !rows.length;
  const hidden = rowsOf(state.tab).length - found.length;
  $("empty").hidden = rows.length > 0;
  $("empty").textContent = hidden ? `The filter hides all ${hidden} rows.` : view.empty;
  if (found.length > rows.length) note(`the newest ${SHOWN} of ${found.length} rows`);
  else if (state.tab in state.kept) note("");
  if (view.note && data) note(view.note(data));
  if (focused) document.querySelector(`tr[data-key="${CSS.escape(focused)}"]`)?.focus();
}

const hasDetail = () => state.tab in state.kept;
const keyOf = (row) => JSON.stringify([row.number, row.operation, row.resource_type, row.resource_name]);

function line(view, row) {
  const made = element("tr", {}, ...view.cells(row).map(cell));
  if (hasDetail()) {
    made.dataset.key = keyOf(row);
    made.tabIndex = 0;
    made.setAttribute("aria-selected", String(state.selected === made.dataset.key));
    made.addEventListener("click", () => open(row));
    made.addEventListener("keydown", (event) => {
      if (event.key === "Enter") open(row);
    });
  }
  return made;
}

function cell({ text, node, heading, ...attributes }) {
  const made = element(heading ? "th" : "td", heading ? { scope: "row" } : attributes);
  made.append(node ?? String(text));
  return made;
}

// ---------------------------------------------------------------- details

async function open(row) {
  const before = row.number - 1;
  const [found, decided] = await Promise.all([
    ask("GET", `requests?after=${before}&limit=1`), ask("GET", `decisions?after=${before}&limit=1`),
  ]);
  const same = (other) => other.number === row.number;
  $("detail").replaceChildren(
    ...detail(row, found.requests.find(same), decided.decisions.filter(same)));
  $("detail").hidden = false;
  state.selected = keyOf(row);
  draw();
}

function close() {
  const key = state.selected;
  $("detail").hidden = true;
  state.selected = null;
  draw();
  if (key) document.querySelector(`tr[data-key="${CSS.escape(key)}"]`)?.focus();
}

// ---------------------------------------------------------------- tabs and keys

function show(name) {
  if ($(`tab-${name}`).hidden) return;
  if (!$("detail").hidden) close();
  state.tab = name;
  for (const tab of TABS) {
    $(`tab-${tab}`).setAttribute("aria-selected", String(tab === name));
    $(`tab-${tab}`).tabIndex = tab === name ? 0 : -1;
  }
  $("panel").setAttribute("aria-labelledby", `tab-${name}`);
  $("new-fault").hidden = name !== "faults";
  $("denied").hidden = !(name in state.kept);
  note("");
  draw();
  refresh().catch(() => {}); // the next tick tells
}

function pause() {
  state.paused = !state.paused;
  $("pause").setAttribute("aria-pressed", String(state.paused));
  $("pause").firstChild.textContent = state.paused ? "Go on " : "Pause ";
}

function deniedOnly() {
  state.denied.only = !state.denied.only;
  $("denied").setAttribute("aria-pressed", String(state.denied.only));
  draw();
}

function step(by) {
  const rows = [...document.querySelectorAll("tbody tr[tabindex]")];
  if (!rows.length) return;
  const at = rows.indexOf(document.activeElement);
  rows[Math.min(Math.max(at + by, 0), rows.length - 1)].focus();
}

function turn(event, by) {
  const tabs = TABS.filter((name) => !$(`tab-${name}`).hidden);
  const at = tabs.indexOf(document.activeElement.id.slice("tab-".length));
  if (at < 0) return;
  event.preventDefault();
  const name = tabs[(at + by + tabs.length) % tabs.length];
  show(name);
  $(`tab-${name}`).focus();
}

const KEYS = {
  "/": () => $("filter").focus(),
  "?": () => $("help").showModal(),
  d: deniedOnly,
  p: pause,
  j: () => step(1),
  k: () => step(-1),
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  ArrowRight: (event) => turn(event, 1),
  ArrowLeft: (event) => turn(event, -1),
  Escape: () => !$("detail").hidden && close(),
};
TABS.forEach((name, at) => { KEYS[at + 1] = () => show(name); });

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  if (event.target.matches("input, textarea")) {
    if (event.key === "Escape") {
      event.preventDefault(); // a browser would empty the filter
      event.target.blur();
    }
    return;
  }
  const action = KEYS[event.key];
  if (!action) return;
  if (["/", "ArrowDown", "ArrowUp"].includes(event.key)) event.preventDefault();
  action(event);
});
for (const name of TABS) $(`tab-${name}`).addEventListener("click", () => show(name));
$("filter").addEventListener("input", draw);
$("denied").addEventListener("click", deniedOnly);
$("pause").addEventListener("click", pause);
$("keys").addEventListener("click", () => $("help").showModal());
$("new-fault").addEventListener("submit", (event) => {
  event.preventDefault();
  try {
    const fault = JSON.parse($("fault").value);
    $("filter").value = ""; // it could hide the new row
    act("POST", "faults", fault);
  } catch (error) {
    note(`not JSON: ${error.message}`, true);
  }
});
show(state.tab);
tick();
