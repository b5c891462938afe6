// Requests and decisions: new ones are loaded since the last time, and kept.

import { callApi } from "./api.js";

const KEPT = 10000; // as many as a broker keeps
const KEPT_FOR_READER = 30000; // with those that the reader sees
const PAGE = 1000; // rows of one call
const AGAIN = 200; // rows that are checked for late responses

const last = { requests: 0, decisions: 0, denied: 0 };
export const kept = { requests: [], decisions: [] };
export const denied = new Set(); // numbers of requests with a denied access
const lastOfConnection = new Map(); // its newest request
let firstRead = Infinity;

/** Keep rows from this number on, since the reader sees them. */
export function keepFrom(number) {
  firstRead = number;
}

/** Load rows since the last time, in as many calls as needed; `loaded` is called after each. */
export async function loadNew(name, loaded = () => {}) {
  for (let calls = 1; await loadPage(name) >= PAGE && calls <= KEPT / PAGE; calls += 1) loaded();
}

/**
 * Load rows since the last time, and again recent ones that had no response yet; after a restart of
 * the broker, from the beginning. Return how many.
 */
async function loadPage(name) {
  const old = kept[name];
  const waiting = old.slice(-AGAIN).find((row) => row.errors === null);
  const after = waiting ? waiting.number - 1 : last[name];
  const page = await callApi("GET", `${name}?after=${after}`);
  if (page.last < last[name]) {
    last[name] = 0;
    kept[name] = [];
    return 0;
  }
  last[name] = page.last;
  const before = new Map(old.slice(-AGAIN).map((row) => [row.number, row]));
  const same = (row) => name === "requests" && before.get(row.number)?.latency_us === row.latency_us;
  const rows = withGaps(page[name], before).map((row) => (same(row) ? before.get(row.number) : row));
  kept[name] = trimmed([...old.filter((row) => row.number <= after), ...rows]);
  return rows.length;
}

function trimmed(rows) {
  const seen = rows.findIndex((row) => row.number >= firstRead);
  const count = seen < 0 ? KEPT : Math.min(Math.max(rows.length - seen, KEPT), KEPT_FOR_READER);
  return rows.slice(-count);
}

/** Forget what is known of requests that are no longer kept. */
function forgetBefore(first) {
  for (const number of denied) if (number < first) denied.delete(number);
  for (const [connection, row] of lastOfConnection) if (row.number < first) lastOfConnection.delete(connection);
}

/** Add to each request how long it came after the one before on its connection. */
function withGaps(rows, before = new Map()) {
  for (const row of rows) {
    const connection = `${row.node_id} ${row.connection}`;
    const former = lastOfConnection.get(connection);
    if (before.has(row.number)) row.gap_us = before.get(row.number).gap_us;
    else { if (former) row.gap_us = row.time_us - former.time_us; lastOfConnection.set(connection, row); }
  }
  return rows;
}

/** Load all rows of a recording, which does not change. */
export async function loadRecording(name) {
  for (let before = -1; before < last[name];) {
    before = last[name];
    const page = await callApi("GET", `${name}?after=${before}`);
    last[name] = page.last;
    kept[name] = kept[name].concat(withGaps(page[name]));
  }
}

/** Load which requests had a denied access, since the last time. Return how many there are. */
export async function loadDenied() {
  for (let before = -1; before < last.denied;) {
    before = last.denied;
    const page = await callApi("GET", `decisions?allowed=false&after=${before}`);
    if (page.last < before) {
      last.denied = 0;
      denied.clear();
    } else last.denied = page.last;
    for (const row of page.decisions) if (!row.allowed) denied.add(row.number);
  }
  const firsts = Object.values(kept).filter((rows) => rows.length).map((rows) => rows[0].number);
  if (firsts.length) forgetBefore(Math.min(...firsts));
  return denied.size;
}
