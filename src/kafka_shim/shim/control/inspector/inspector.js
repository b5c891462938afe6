// The page: it reads the control API twice a second and shows what is new, or shows a recording.

import { acls } from "./acls.js";
import { address, go, link, onAddress, tabLink } from "./address.js";
import { CallError, callApi } from "./api.js";
import { callsOf, changes } from "./changes.js";
import { button, counted, element, visible } from "./elements.js";
import { faults } from "./faults.js";
import { groups } from "./groups.js";
import { matrix } from "./matrix.js";
import { overview } from "./overview.js";
import { principals } from "./principals.js";
import { denied, keepFrom, kept, loadDenied, loadNew, loadRecording } from "./request_history.js";
import { decisions, folded, requests } from "./requests.js";
import { completions, drawRows, during, focusRow, matching, SHOWN, sorted, sync, unknownFieldsText } from "./rows.js";
import { drawTimeline } from "./timeline.js";
import { topics } from "./topics.js";
import { transactions } from "./transactions.js";

const POLL_MS = 500;
const VIEWS = { overview, requests, decisions, principals, topics, groups, transactions, acls, matrix, faults, changes };
const TABS = Object.keys(VIEWS);
const NARROW = matchMedia("(max-width: 45rem)");

const $ = (id) => document.getElementById(id);
const state = {
  paused: false, data: {}, tools: {}, shown: SHOWN, recording: false, lostSince: 0, reported: 0,
  detail: null, opened: "", // the details, and the tab, the compared request and the key of their row
  loaded: "", // the tab whose rows were loaded
  top: null, drawnTop: 0, // the newest request that is shown while the reader is busy; the newest drawn
};

/** The functions of the page that views use. */
const page = {
  call: callApi, note, refresh,
  get recording() { return state.recording; },
  data: (name) => state.data[name],
  close: () => go({ open: "" }),
  clearFilter: () => go({ filter: "" }, true),
  showDetail,
  /**
   * Make calls that change something, say what was done, and offer to undo all of it. If one fails,
   * undo those before it. Return the response to the last one, or null.
   */
  async act(done, ...calls) {
    let last = null;
    try {
      ({ last } = await callApi("GET", `changes?after=${Number.MAX_SAFE_INTEGER}`));
      let response = null;
      for (const call of calls) response = await callApi(...call);
      const undo = await undoCalls(last);
      note(typeof done === "function" ? done(response) : done, false, undo.length ? () => page.act("Undone", ...undo) : null);
      await refresh();
      return response;
    } catch (error) {
      note(error.message, true);
      if (last !== null) for (const call of await undoCalls(last)) await callApi(...call);
      return null;
    }
  },
  /** Delete something, with its details, after a question. */
  async remove(what, path) {
    if (confirm(`Delete ${what}?`) && await page.act(`${what} deleted`, ["DELETE", path])) page.close();
  },
};

const isHistory = (name) => name in kept;

/** Return the calls that undo what this page has changed since a change; none if one has no undo. */
async function undoCalls(since) {
  const { changes: rows } = await callApi("GET", `changes?after=${since}`);
  const own = rows.filter(({ by }) => by.kind === "inspector").toReversed();
  return own.every(({ undo }) => undo.length) ? own.flatMap(({ undo }) => callsOf(undo)) : [];
}

let running = Promise.resolve();

/** Load what is new, and draw it, after what is being loaded. */
function refresh() {
  running = running.catch(() => {}).then(load);
  return running;
}

async function load() {
  const health = await callApi("GET", "health");
  const name = address.tab;
  const before = state.data[name];
  page.lastNumbers = health.changes_last === null ? null : `${health.changes_last} ${health.requests_last}`;
  if (health.recording) {
    state.recording = true;
    for (const tab of TABS) $(`tab-${tab}`).hidden = !isHistory(tab) && tab !== "principals";
    $("pause").hidden = true;
    if ($(`tab-${name}`).hidden) return go(tabLink("requests"), true);
    for (const each of Object.keys(kept)) await loadRecording(each);
    if (!isHistory(name)) state.data[name] = await VIEWS[name].load(page);
  } else if (isHistory(name)) await loadNew(name, draw);
  else state.data[name] = await VIEWS[name].load(page);
  if (isHistory(name)) $("denied-count").textContent = await loadDenied();
  showHealth(health);
  state.loaded = name;
  if (isHistory(name) || before !== state.data[name]) draw();
  await syncDetail();
  if (state.detail?.update) await state.detail.update();
}

function showHealth(health) {
  const text = health.recording
    ? `recording ${health.recording} · ${counted(health.requests, "request")}`
    : `Kafka ${health.release} · ${counted(health.connections, "connection")}`;
  if ($("broker").textContent !== text) $("broker").textContent = text;
  $("broker").title = health.recording ? "" : `up ${Math.floor(health.uptime_ms / 1000)} s`;
  for (const [tab, count] of Object.entries(health.counts ?? {})) {
    if ($(`count-${tab}`)) $(`count-${tab}`).textContent = count;
  }
  state.lostSince = 0;
  state.reported = Date.now();
  $("lost").hidden = true;
}

/** Say once that the broker does not answer, and from when the rest of the page is. */
function showLost(error) {
  if (state.lostSince) return;
  state.lostSince = Date.now();
  const last = state.reported ? ` Shown is what it last reported, at ${new Date(state.reported).toLocaleTimeString()}.` : "";
  $("lost").textContent = (error instanceof CallError ? error.message : "The broker does not answer.") + last;
  $("lost").hidden = false;
}

async function tick() {
  if (!state.paused && !document.hidden) {
    try {
      await refresh();
    } catch (error) {
      showLost(error);
    }
  }
  setTimeout(tick, POLL_MS);
}

function note(text, isBad = false, undo = null) {
  $("note").replaceChildren(visible(text), ...(undo ? [" · ", button("Undo", undo)] : []));
  $("note").hidden = !text;
  $("note").classList.toggle("bad", isBad);
}

/** Return all rows of the view, those that are shown, and how many newer ones are held back. */
function rowsToShow(view) {
  const { tab, filter, time, sort } = address;
  const data = state.data[tab];
  if (!isHistory(tab)) {
    const all = data ? view.rows(data) : [];
    return { all, rows: sorted(view, matching(view, all, filter), sort), newer: 0 };
  }
  const all = kept[tab].toReversed();
  const isDenied = (row) => (tab === "requests" ? denied.has(row.number) : !row.allowed);
  const found = matching(view, address.denied ? all.filter(isDenied) : all, filter);
  drawTimeline(found, isDenied);
  const left = during(found, time.split("-").map(Number));
  holdPlace(all[0]?.number ?? 0);
  const seen = state.top === null ? left : left.filter((row) => row.number <= state.top);
  const rows = tab === "requests" && !address.each && !sort ? folded(seen) : seen;
  return { all, rows: sorted(view, rows, sort), newer: left.length - seen.length };
}

/** Return how many older requests the page and the broker have forgotten, as text; empty if none. */
function forgotten() {
  const first = isHistory(address.tab) && !state.recording ? kept[address.tab][0]?.number ?? 1 : 1;
  return first > 1 ? ` ${counted(first - 1, "older request")} ${first > 2 ? "are" : "is"} no longer kept.` : "";
}

/** Hold newer rows back as long as the reader has scrolled, or looks at a row. */
function holdPlace(newest) {
  const isBusy = $("scroll").scrollTop > 0 || address.open || document.activeElement.closest("#rows tbody");
  if (!isBusy) state.top = null;
  else if (state.loaded === address.tab) state.top ??= state.drawnTop || newest;
  if (state.top === null) state.drawnTop = newest;
}

function draw() {
  const view = VIEWS[address.tab];
  const data = state.data[address.tab];
  if (view.body) {
    if (data) view.body($("body"), data, page);
    return;
  }
  const { all, rows, newer } = rowsToShow(view);
  const shown = rows.slice(0, state.shown);
  const { sort, open: selected } = address;
  drawRows(view, shown, { selected, sort, open: (row) => go({ open: view.key(row) }), sortBy: (name) => go({ sort: name }) });
  keepFrom(state.top === null || !shown.length ? Infinity : Math.min(...shown.map((row) => row.number)));
  $("empty").hidden = shown.length > 0 || !(data || isHistory(address.tab));
  const unknown = unknownFieldsText(view, address.filter);
  if (shown.length) $("empty").replaceChildren();
  else if (all.length) $("empty").replaceChildren(unknown || `The filter hides all ${all.length} rows.`);
  else if (!$("empty").hasChildNodes() || $("empty").firstChild.nodeType === Node.TEXT_NODE) {
    $("empty").replaceChildren(typeof view.empty === "function" ? view.empty(page) : view.empty);
  }
  $("newer").hidden = !newer;
  $("newer").textContent = `${newer} new`;
  $("more").hidden = rows.length <= shown.length && !forgotten();
  $("more").lastElementChild.hidden = rows.length <= shown.length;
  const which = isHistory(address.tab) && !sort ? "newest" : "first";
  $("more").firstChild.textContent = `The ${which} ${shown.length} of ${rows.length} rows.${forgotten()}`;
}

function offerCompletions() {
  const view = VIEWS[address.tab];
  const rows = isHistory(address.tab) ? kept[address.tab].toReversed() : state.data[address.tab] ? view.rows(state.data[address.tab]) : [];
  sync($("completions"), completions(view, rows, $("filter").value), String, (value) => element("option", { value }));
}

/** Show the newest rows again, from the top. */
function showNewer() {
  state.top = null;
  state.drawnTop = 0;
  $("scroll").scrollTop = 0;
  if (address.open) go({ open: "" });
  document.activeElement.blur();
  draw();
}

const rowOf = (view, key) => (isHistory(address.tab)
  ? view.rowOfKey(kept[address.tab], key)
  : state.data[address.tab] && view.rows(state.data[address.tab]).find((row) => view.key(row) === key));

/** Show the details of the row that the address names, once it is loaded, or none. */
async function syncDetail() {
  const view = VIEWS[address.tab];
  const wanted = address.open && `${address.tab} ${address.compare} ${address.open}`;
  if (wanted === state.opened) return;
  if (!wanted) return hideDetail();
  const row = view.detail && rowOf(view, address.open);
  if (!row) return;
  state.opened = wanted;
  const made = await view.detail(row, page);
  if (state.opened === wanted) showDetail(made.nodes, made.update);
}

function showDetail(nodes, update = null) {
  state.detail = { update };
  const detail = $("detail");
  detail.replaceChildren(button("Close", () => (address.open ? page.close() : hideDetail()), { class: "close" }), ...nodes);
  detail.classList.toggle("wide", Boolean(VIEWS[address.tab].isWide));
  detail.scrollTop = 0;
  if (detail.open) return;
  if (NARROW.matches) detail.showModal();
  else detail.setAttribute("open", ""); // which, unlike show(), leaves the focus on the row
}

function hideDetail() {
  const key = state.opened.replace(/^\S* \S* /, "");
  if ($("detail").matches(":modal")) $("detail").close();
  $("detail").removeAttribute("open");
  $("detail").replaceChildren();
  state.opened = "";
  state.detail = null;
  if (key) focusRow(key);
}

/** Show what the address names. */
function apply(before) {
  const { tab } = address;
  if (tab !== before.tab) showTab(tab);
  if (tab !== before.tab || address.filter !== before.filter || address.time !== before.time) state.shown = SHOWN;
  if ($("filter").value !== address.filter) $("filter").value = address.filter;
  $("denied").setAttribute("aria-pressed", String(Boolean(address.denied)));
  $("fold").setAttribute("aria-pressed", String(!address.each));
  draw();
  if (tab !== before.tab) refresh().catch(() => {}); // the next tick reports it
  syncDetail().catch((error) => note(error.message, true));
}

function showTab(name) {
  const view = VIEWS[name];
  hideDetail();
  Object.assign(state, { top: null, drawnTop: 0, loaded: "" });
  document.title = `${view.title} · kafka-shim ${decodeURIComponent(location.pathname.split("/").at(-2) || location.host)}`;
  for (const tab of TABS) {
    $(`tab-${tab}`).setAttribute("aria-selected", String(tab === name));
    $(`tab-${tab}`).tabIndex = tab === name ? 0 : -1;
  }
  $("panel").setAttribute("aria-labelledby", `tab-${name}`);
  if (view.tools && !state.tools[name]) state.tools[name] = view.tools(page);
  $("tools").replaceChildren(...(state.tools[name] ?? []));
  $("body").replaceChildren();
  $("body").hidden = !view.body;
  $("scroll").hidden = Boolean(view.body);
  $("scroll").scrollTop = 0;
  $("search").hidden = Boolean(view.body); // there are no rows
  for (const id of ["more", "newer", "empty", "timeline"]) $(id).hidden = true;
  $("empty").replaceChildren();
  $("denied").hidden = !isHistory(name);
  $("fold").hidden = name !== "requests";
  note("");
}

/** Show a tab; requests and decisions share what is filtered. */
function show(name) {
  if ($(`tab-${name}`).hidden) return;
  const { filter, time, denied: only } = address;
  const isShared = isHistory(name) && isHistory(address.tab);
  go(tabLink(name, { denied: only, ...(isShared ? { filter, time } : {}) }));
}

function pause() {
  state.paused = !state.paused;
  $("pause").setAttribute("aria-pressed", String(state.paused));
  $("pause").textContent = state.paused ? "Resume" : "Pause";
}

const deniedOnly = () => go({ denied: address.denied ? "" : "1" });
const fold = () => go({ each: address.each ? "" : "1" });

function step(by) {
  const rows = [...document.querySelectorAll("tbody tr[tabindex]")];
  if (!rows.length) return;
  const at = rows.indexOf(document.activeElement);
  rows[Math.min(Math.max(at + by, 0), rows.length - 1)].focus();
}

function nextTab(event, by) {
  const tabs = TABS.filter((name) => !$(`tab-${name}`).hidden);
  const at = tabs.indexOf(document.activeElement.id.slice("tab-".length));
  if (at < 0) return;
  event.preventDefault();
  const name = tabs[(at + by + tabs.length) % tabs.length];
  show(name);
  $(`tab-${name}`).focus();
}

const THEMES = { "": "System", light: "Light", dark: "Dark" };

function setTheme(name) {
  document.documentElement.style.colorScheme = name;
  $("theme").textContent = `Theme: ${THEMES[name].toLowerCase()}`;
  localStorage.setItem("theme", name);
}

function nextTheme() {
  const names = Object.keys(THEMES);
  setTheme(names[(names.indexOf(localStorage.getItem("theme") ?? "") + 1) % names.length]);
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
  ArrowRight: (event) => nextTab(event, 1),
  ArrowLeft: (event) => nextTab(event, -1),
  Escape: () => $("detail").open && (address.open ? page.close() : hideDetail()),
};

TABS.forEach((name, at) => {
  KEYS["1234567890-"[at]] = () => show(name);
  $("tabs").append(element("button", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "panel", onclick: () => show(name),
  }, VIEWS[name].title, " ", element("span", { class: "count", id: `count-${name}` })));
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog:modal")) return;
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
    if (event.target.closest("#body, #detail") && event.key !== "/") return; // these keys scroll it
    event.preventDefault();
  }
  action(event);
});
$("detail").addEventListener("cancel", (event) => {
  event.preventDefault();
  KEYS.Escape();
});
$("more").lastElementChild.addEventListener("click", () => {
  state.shown += SHOWN;
  draw();
});
$("filter").addEventListener("input", () => go({ filter: $("filter").value }, true));
for (const event of ["focus", "input"]) $("filter").addEventListener(event, offerCompletions);
for (const [id, action] of Object.entries({ denied: deniedOnly, fold, pause, newer: showNewer, theme: nextTheme })) {
  $(id).addEventListener("click", action);
}
$("keys").addEventListener("click", KEYS["?"]);
setTheme(localStorage.getItem("theme") ?? "");
onAddress(TABS, apply);
tick();
