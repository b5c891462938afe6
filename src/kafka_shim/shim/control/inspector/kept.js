// Requests and decisions: new ones are loaded since the last time, and kept.

import { ask } from "./ask.js";

const KEPT = 10000; // as many as a broker keeps
const PAGE = 1000; // rows of one call
const AGAIN = 200; // rows that are checked for late answers

const after = { requests: 0, decisions: 0, denied: 0 };
export const kept = { requests: [], decisions: [] };
export const denied = new Set(); // numbers of requests with a denied access

/** Load rows since the last time, in as many calls as needed; `loaded` is called after each. */
export async function more(name, loaded) {
  for (let calls = 1; await moreOnce(name) >= PAGE && calls <= KEPT / PAGE; calls += 1) loaded();
}

/**
 * Load rows since the last time, and again recent ones that had no answer yet; after a restart of the
 * broker, from the beginning. Return how many.
 */
async function moreOnce(name) {
  const old = kept[name];
  const waiting = old.slice(-AGAIN).find((row) => row.errors === null);
  const since = waiting ? waiting.number - 1 : after[name];
  const found = await ask("GET", `${name}?after=${since}`);
  const isAnew = found.last < after[name];
  after[name] = isAnew ? 0 : found.last;
  const known = isAnew ? [] : old.filter((row) => row.number <= since);
  kept[name] = isAnew ? [] : known.concat(found[name]).slice(-KEPT);
  return isAnew ? 0 : found[name].length;
}

/** Load all rows of a recording, which does not change. */
export async function all(name) {
  for (let last = -1; last < after[name];) {
    last = after[name];
    const found = await ask("GET", `${name}?after=${last}`);
    after[name] = found.last;
    kept[name] = kept[name].concat(found[name]);
  }
}

/** Load which requests had a denied access, since the last time. Return how many there are. */
export async function moreDenied() {
  for (let last = -1; last < after.denied;) {
    last = after.denied;
    const found = await ask("GET", `decisions?allowed=false&after=${last}`);
    if (found.last < last) {
      after.denied = 0;
      denied.clear();
    } else after.denied = found.last;
    for (const row of found.decisions) if (!row.allowed) denied.add(row.number);
  }
  return denied.size;
}
