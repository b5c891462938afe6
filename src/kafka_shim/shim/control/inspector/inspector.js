// The page: it reads the control API twice a second and shows what is new, or shows a recording.

import { acls } from "./acls.js";
import { ask, Refused, whenWithoutToken } from "./ask.js";
import { counted, element } from "./elements.js";
import { faults } from "./faults.js";
import { groups } from "./groups.js";
import { all, denied, kept, more, moreDenied } from "./kept.js";
import { matrix } from "./matrix.js";
import { overview } from "./overview.js";
import { decisions, folded, requests } from "./requests.js";
import { drawRows, focus, matching, SHOWN } from "./rows.js";
import { topics } from "./topics.js";
import { transactions } from "./transactions.js";
import { users } from "./users.js";

const POLL_MS = 500;
const VIEWS = { overview, requests, decisions, topics, groups, transactions, users, acls, matrix, faults };
const TABS = Object.keys(VIEWS);

const $ = (id) => document.getElementById(id);
const state = {
  tab: null, paused: false, deniedOnly: false, folds: true, data: {}, selected: null, drawn: "",
  detail: null, recording: false, tools: {}, shown: SHOWN,
};

/** The functions of the page that views use. */
const page = {
  ask, note, refresh, close,
  get recording() { return state.recording; },
  data: (name) => state.data[name],
  show: (name) => show(name),
  redraw() { state.drawn = ""; draw(); },
  open: (row) => open(row),
  clearFilter() { $("filter").value = ""; },
  /** Make a call that changes something, and refresh. Return its answer, or null after an error. */
  async act(method, path, body) {
    try {
      const answer = await ask(method, path, body);
      note("");
      await refresh();
      return answer;
    } catch (error) {
      note(error.message, true);
      return null;
    }
  },
};

const isSeen = (name) => name in kept;

async function refresh() {
  const health = await ask("GET", "health");
  const name = state.tab;
  if (health.recording) {
    const isFirst = !state.recording;
    state.recording = true;
    for (const tab of TABS) $(`tab-${tab}`).hidden = !isSeen(tab);
    $("pause").hidden = true;
    status(`recording ${health.recording} · ${counted(health.requests, "request")}`, false);
    if (isFirst && !isSeen(name)) return show("requests");
    await all(name);
  } else {
    const text = `Kafka ${health.release} · ${counted(health.connections, "connection")} · `
      + `up ${Math.floor(health.uptime_ms / 1000)} s`;
    status(text, false);
    if (isSeen(name)) await more(name, draw);
    else state.data[name] = await VIEWS[name].load(page);
  }
  if (isSeen(name)) $("denied-count").textContent = await moreDenied();
  draw();
  if (state.detail?.update) await state.detail.update();
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

/** Return all rows of the view, and those that the filter and the buttons leave. */
function found(view) {
  const name = state.tab;
  const data = state.data[name];
  if (!isSeen(name)) {
    const rows = data ? view.rows(data) : [];
    return [rows, matching(view, rows, $("filter").value)];
  }
  const rows = kept[name].slice().reverse();
  const isDenied = (row) => (name === "requests" ? denied.has(row.number) : !row.allowed);
  const wanted = state.deniedOnly ? rows.filter(isDenied) : rows;
  const left = matching(view, wanted, $("filter").value);
  return [rows, name === "requests" && state.folds ? folded(left) : left];
}

function draw() {
  const view = VIEWS[state.tab];
  const data = state.data[state.tab];
  if (view.body) {
    if (data) view.body($("body"), data, page, $("filter").value);
    return;
  }
  const [rows, left] = found(view);
  const drawn = JSON.stringify(
    [state.tab, Boolean(data), left.slice(0, state.shown), left.length, rows.length, state.selected]);
  if (drawn === state.drawn) return; // rows under the pointer stay as long as nothing has changed
  state.drawn = drawn;
  const shown = drawRows(view, left, data, { selected: state.selected, open, count: state.shown });
  $("empty").hidden = shown > 0 || !(data || isSeen(state.tab));
  if (shown) $("empty").replaceChildren();
  else {
    const none = typeof view.empty === "function" ? view.empty(page) : view.empty;
    $("empty").replaceChildren(rows.length ? `The filter hides all ${rows.length} rows.` : none);
  }
  $("more").hidden = left.length <= shown;
  const which = isSeen(state.tab) ? "newest" : "first";
  $("more").firstChild.textContent = `The ${which} ${shown} of ${left.length} rows.`;
}

// ---------------------------------------------------------------- details

async function open(row) {
  const view = VIEWS[state.tab];
  const tab = state.tab;
  const made = await view.detail(row, page);
  if (state.tab !== tab) return;
  state.detail = made;
  $("detail").replaceChildren(
    element("button", { type: "button", class: "close", text: "Close", onclick: close }), ...made.nodes);
  $("detail").classList.toggle("wide", Boolean(view.isWide));
  $("detail").hidden = false;
  if ($("detail").getBoundingClientRect().top > $("panel").getBoundingClientRect().top) {
    $("detail").scrollIntoView({ block: "start" }); // on a narrow page it is below the rows
  }
  state.selected = view.key ? view.key(row) : null;
  draw();
}

function close() {
  const key = state.selected;
  $("detail").hidden = true;
  state.selected = state.detail = null;
  draw();
  if (key) focus(key);
}

// ---------------------------------------------------------------- tabs and keys

function show(name) {
  if ($(`tab-${name}`).hidden) return;
  if (!$("detail").hidden) close();
  state.tab = name;
  state.drawn = "";
  state.shown = SHOWN;
  history.replaceState(null, "", `#${name}`);
  for (const tab of TABS) {
    $(`tab-${tab}`).setAttribute("aria-selected", String(tab === name));
    $(`tab-${tab}`).tabIndex = tab === name ? 0 : -1;
  }
  const view = VIEWS[name];
  $("panel").setAttribute("aria-labelledby", `tab-${name}`);
  if (view.tools && !state.tools[name]) state.tools[name] = view.tools(page);
  $("tools").replaceChildren(...(state.tools[name] ?? []));
  $("body").replaceChildren();
  $("body").hidden = !view.body;
  $("scroll").hidden = Boolean(view.body);
  $("filter").parentElement.hidden = Boolean(view.body); // there are no rows
  $("more").hidden = true;
  $("empty").hidden = true;
  $("empty").replaceChildren();
  $("denied").hidden = !isSeen(name);
  $("fold").hidden = name !== "requests";
  note("");
  draw();
  refresh().catch(() => {}); // the next tick reports it
}

function toggle(id, value) {
  $(id).setAttribute("aria-pressed", String(value));
  return value;
}

function pause() {
  state.paused = toggle("pause", !state.paused);
  $("pause").firstChild.textContent = state.paused ? "Resume " : "Pause ";
}

function deniedOnly() {
  state.deniedOnly = toggle("denied", !state.deniedOnly);
  draw();
}

function fold() {
  state.folds = toggle("fold", !state.folds);
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
  f: fold,
  p: pause,
  j: () => step(1),
  k: () => step(-1),
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  ArrowRight: (event) => turn(event, 1),
  ArrowLeft: (event) => turn(event, -1),
  Escape: () => !$("detail").hidden && close(),
};

TABS.forEach((name, at) => {
  const key = String((at + 1) % 10);
  KEYS[key] = () => show(name);
  $("tabs").append(element("button", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "panel", onclick: () => show(name),
  }, `${VIEWS[name].title} `, element("kbd", { text: key })));
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  if (event.target.matches("input, textarea, select")) {
    if (event.key === "Escape") {
      event.preventDefault(); // which would empty the filter
      event.target.blur();
    }
    return;
  }
  const action = KEYS[event.key];
  if (!action) return;
  if (["/", "ArrowDown", "ArrowUp"].includes(event.key)) {
    if (event.target.closest("#body, aside") && event.key !== "/") return; // these keys scroll it
    event.preventDefault();
  }
  action(event);
});
$("more").lastElementChild.addEventListener("click", () => {
  state.shown += SHOWN;
  draw();
});
$("filter").addEventListener("input", () => {
  state.shown = SHOWN;
  draw();
});
$("denied").addEventListener("click", deniedOnly);
$("fold").addEventListener("click", fold);
$("pause").addEventListener("click", pause);
$("keys").addEventListener("click", () => $("help").showModal());
whenWithoutToken(() => !state.paused && pause());
show(TABS.includes(location.hash.slice(1)) ? location.hash.slice(1) : "overview");
tick();
