// Requests and decisions, with their details and what would have allowed a denied access.

import { callsToChange, ruleText } from "./acls.js";
import { address, go, tabLink } from "./address.js";
import { connectHelp } from "./connect.js";
import { badge, button, capital, clockTime, copier, counted, docLink, duration, element, hexdump, json, section, table } from "./elements.js";
import { actionText } from "./faults.js";
import { denied } from "./request_history.js";

/** Whether a field of a request names a topic or a group, by its name, that of its list, and its neighbours. */
const NAMED_KINDS = {
  topic: (key, list, beside) => ["topic", "topicName", "topicNames"].includes(key) || (key === "name" && /topic/i.test(list))
    || (key === "resourceName" && beside.resourceType === 2),
  group: (key, list, beside) => ["groupId", "group", "groups", "groupIds", "groupsNames"].includes(key)
    || (["key", "coordinatorKeys"].includes(key) && beside.keyType === 0),
};

/** Return the topics, or the groups, that a request names. */
function namesOf(kind, value, list = "", beside = value, found = new Set()) {
  for (const [key, inner] of Object.entries(value ?? {})) {
    const name = Array.isArray(value) ? list : key;
    if (typeof inner === "object" && inner !== null) namesOf(kind, inner, name, Array.isArray(inner) ? value : inner, found);
    else if (typeof inner === "string" && inner && NAMED_KINDS[kind](name, list, beside)) found.add(inner);
  }
  return [...found];
}

/** What the filter knows of requests and decisions besides their columns. */
const SHARED_FIELDS = {
  api: (row) => row.api, user: (row) => (row.principal.startsWith("User:") ? row.principal.slice(5) : []), client: (row) => row.client_id, connection: (row) => row.connection, broker: (row) => row.node_id,
};

const NAMES = ["name", "topic", "groupId", "transactionalId", "resourceName", "key"];

/** Return the topics, groups and other resources that a request names. */
function named(value, found = new Set()) {
  for (const [key, inner] of Object.entries(value ?? {})) {
    if (typeof inner === "object" && inner !== null) named(inner, found);
    else if (typeof inner === "string" && inner && NAMES.includes(key)) found.add(inner);
  }
  return found;
}

function about(row) {
  const names = [...named(row.request)];
  const rest = names.length > 3 ? ` and ${names.length - 3} more` : "";
  return names.slice(0, 3).join(", ") + rest;
}

const sameness = new WeakMap();

function sameAs(row) {
  if (!sameness.has(row)) {
    sameness.set(row, JSON.stringify([row.api, row.version, about(row), row.principal, row.client_id, row.errors, row.faults]));
  }
  return sameness.get(row);
}

/** Fold rows that repeat the one before into one: the newest, with their number. */
export function folded(rows) {
  const found = [];
  for (const row of rows) {
    const last = found.at(-1);
    if (last && sameAs(last.newest) === sameAs(row)) last.times += 1;
    else found.push({ newest: row, times: 1 });
  }
  return found.map(({ newest, times }) => (times > 1 ? repeated(newest, times) : newest));
}

const copies = new WeakMap(); // the same object for the same row, for caches of filter and drawing

function repeated(row, times) {
  const known = copies.get(row);
  if (known?.times === times) return known;
  const made = { ...row, times };
  copies.set(row, made);
  return made;
}

export const requests = {
  title: "Requests",
  columns: ["#", "Time (UTC)", "Gap", "API", "Resources", "Principal", "Client", "Connection", "Broker", "Correlation", "Latency", "Response"],
  extra: ["#", "Time (UTC)", "Resources", "Client", "Latency"],
  rare: ["Gap", "Connection", "Broker", "Correlation"],
  key: (row) => String(row.number),
  rowOfKey: (rows, key) => rows.find((row) => String(row.number) === key) ?? { number: Number(key) },
  cells: (row) => [
    { text: row.number, class: "number" },
    { text: clockTime(row.time_us), sort: row.time_us },
    { text: duration(row.gap_us), sort: row.gap_us ?? -1 },
    { node: element("span", {}, `${row.api} v${row.version}`,
      row.times ? element("span", { class: "times", text: ` ×${row.times}` }) : "") },
    { text: about(row) },
    { text: row.principal },
    { text: row.client_id ?? "" },
    { text: row.connection },
    { text: row.node_id },
    { text: row.correlation_id },
    { text: duration(row.latency_us), sort: row.latency_us ?? -1 },
    responseCell(row),
  ],
  detail,
  isWide: true,
  fields: {
    ...SHARED_FIELDS, error: (row) => [...row.errors ?? [], ...row.error_names ?? []], fault: (row) => row.faults,
    topic: (row) => namesOf("topic", row.request), group: (row) => namesOf("group", row.request),
  },
  words: { denied: (row) => denied.has(row.number) },
  empty: (page) => element("div", {},
    element("p", { text: "No requests yet. Connect a client to see its requests here." }),
    ...(page.recording ? [] : [connectHelp(page)])),
};

function responseCell(row) {
  if (row.errors === null) return { text: "no response yet", class: "none" };
  const applied = row.faults.length ? ` (fault ${row.faults.join(", ")})` : "";
  const names = [...new Set(row.error_names)];
  if (!names.length && !applied) return { text: "ok", class: "none" };
  const text = (names.join(", ") || "ok") + applied;
  return { node: badge(!names.length, text), title: text };
}

const accessOf = (row) => `${capital(row.operation)} ${capital(row.resource_type)} ${row.resource_name}`;

export const decisions = {
  title: "Decisions",
  columns: ["#", "Time (UTC)", "Decision", "Principal", "Access", "Reason", "Request"],
  extra: ["#", "Time (UTC)", "Reason", "Request"],
  key: (row) => JSON.stringify([row.number, row.operation, row.resource_type, row.resource_name]),
  rowOfKey: (rows, key) => ({ number: Number(key.match(/\d+/)) }),
  cells: (row) => [
    { text: row.number, class: "number" },
    { text: clockTime(row.time_us), sort: row.time_us },
    { node: badge(row.allowed, row.allowed ? "allowed" : "denied") },
    { text: row.principal },
    { text: accessOf(row) },
    { text: row.rule, class: "wide" },
    { text: `${row.api} v${row.version}` },
  ],
  detail,
  isWide: true,
  fields: {
    ...SHARED_FIELDS, operation: (row) => row.operation,
    ...Object.fromEntries(["TOPIC", "GROUP"].map((kind) => [kind.toLowerCase(), (row) => (row.resource_type === kind ? row.resource_name : [])])),
  },
  words: { denied: (row) => !row.allowed, allowed: (row) => row.allowed },
  empty: "No decisions yet.",
};

/** Load a request with its decisions, request and response; the request is missing if no longer kept. */
async function loadRequest(number, page) {
  const [rows, decided, full] = await Promise.all([
    page.call("GET", `requests?after=${number - 1}&limit=1`),
    page.call("GET", `decisions?after=${number - 1}&limit=1`),
    page.call("GET", `requests/${number}`).catch(() => null),
  ]);
  const same = (other) => other.number === number;
  return { request: rows.requests.find(same), decided: decided.decisions.filter(same), full };
}

/** Return the details of a request, or of the request that a decision belongs to. */
async function detail({ number }, page) {
  const { request, decided, full } = await loadRequest(number, page);
  const shown = request ?? decided[0];
  if (!shown) return { nodes: [element("h2", { text: `#${number}` }), element("p", { text: "This request is no longer kept." })] };
  const nodes = [
    element("h2", {}, `#${number} `, docLink(shown.api), ` v${shown.version}`),
    element("p", { text: `${shown.principal} from ${shown.host}, client ${shown.client_id ?? "unnamed"}`
      + (request ? `, ${request.errors === null ? "no response yet" : `response after ${duration(request.latency_us) || "an unknown time"}`}` : "") }),
  ];
  if (request) nodes.push(conversationLinks(request));
  if (request && address.compare) nodes.push(await comparison(request, full, page));
  nodes.push(remedyOf(decided, page));
  if (decided.length) nodes.push(section("Decisions", element("ul", {}, ...decided.map(decisionItem))));
  if (request?.decisions_left_out) {
    nodes.push(element("p", { text: `${request.decisions_left_out} more decisions were not kept` }));
  }
  if (request?.errors?.length) {
    nodes.push(section("Errors of the response", element("p", {}, ...request.error_names.flatMap((name) => [docLink(name), " "]))));
  }
  if (request?.faults.length) nodes.push(await appliedFaults(request.faults, page));
  if (full) nodes.push(exchange(full));
  else if (request?.request) nodes.push(section("Request", json(request.request)));
  return { nodes };
}

/** Links to the requests of the same connection, client and principal, in their order. */
function conversationLinks(row) {
  const links = { connection: row.connection, client: row.client_id, principal: row.principal };
  const quoted = (value) => (/\s/.test(value) ? `"${value}"` : value);
  return element("p", { class: "buttons" },
    ...Object.entries(links).filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => element("a", {
      class: "button", href: tabLink("requests", { filter: `${name}:${quoted(String(value))}`, each: "1", sort: "#" }),
      text: `All of ${name === "connection" ? `connection ${value}` : value}`,
    })),
    element("a", { class: "button", href: tabLink("principals", { open: row.principal }), text: "ACLs for everything it tried" }),
    button("Compare with …", () => go({ compare: row.number, open: "" })));
}

/** Return the fields in which two requests, or their responses, differ. */
async function comparison(row, full, page) {
  const other = await loadRequest(Number(address.compare), page);
  if (!other.request) return element("p", { text: `#${address.compare} is no longer kept.` });
  const [here, there] = [[row, full], [other.request, other.full]].map(([one, bytes]) => new Map([
    ...["api", "version", "principal", "client_id", "host", "connection", "node_id", "latency_us"].map((name) => [name, one[name]]),
    ...fieldsOf(bytes?.request ?? one.request, "request"), ...fieldsOf(bytes?.response, "response"),
  ]));
  const text = (value) => (value === undefined ? "–" : JSON.stringify(value));
  const differing = [...new Set([...there.keys(), ...here.keys()])].filter((name) => text(here.get(name)) !== text(there.get(name)));
  return section(`Compared with #${address.compare}: ${counted(differing.length, "field")} differ`,
    table("Differences", ["Field", `#${address.compare}`, `#${row.number}`],
      differing.map((name) => [name, text(there.get(name)), text(here.get(name))])),
    element("p", { class: "buttons" }, button("End the comparison", () => go({ compare: "" }))));
}

/** Return paths and values of all fields. */
function fieldsOf(value, path) {
  if (typeof value !== "object" || value === null) return value === undefined ? [] : [[path, value]];
  return Object.entries(value).flatMap(([key, inner]) => fieldsOf(inner, `${path}.${key}`));
}

async function appliedFaults(ids, page) {
  const rows = await Promise.all(ids.map((id) => page.call("GET", `faults/${id}`).catch(() => null)));
  return section("Faults", element("ul", {}, ...ids.map((id, at) => element("li", {}, badge(false, `fault ${id}`), " ",
    rows[at] ? element("a", { href: tabLink("faults", { open: String(id) }), text: actionText(rows[at].action) })
      : "removed since"))));
}

/** Show request and response side by side, decoded or as bytes. */
function exchange(full) {
  const made = element("div", { class: "exchange" });
  const isLong = full.response_bytes && full.response_hex === null;
  const missing = isLong ? `${full.response_bytes} bytes: not kept, since longer than 16 KiB` : "no response yet";
  function drawSides(isHex) {
    const text = (decoded, hex) => (isHex || decoded === null ? hexdump(hex) : json(decoded));
    made.replaceChildren(
      section(`Request, ${full.request_hex.length / 2} bytes`, text(full.request, full.request_hex)),
      full.response_hex === null
        ? section("Response", element("p", { text: missing }))
        : section(`Response, ${full.response_bytes} bytes`, text(full.response, full.response_hex)),
    );
  }
  const bytes = button("Show bytes", () => {
    const isHex = bytes.getAttribute("aria-pressed") !== "true";
    bytes.setAttribute("aria-pressed", String(isHex));
    drawSides(isHex);
  }, { "aria-pressed": "false", id: "bytes" });
  drawSides(false);
  return element("div", {}, element("p", { class: "buttons" }, bytes), made);
}

const decisionItem = (row) => element("li", {}, badge(row.allowed, row.allowed ? "allowed" : "denied"), " ",
  docLink(row.operation, capital(row.operation)), ` ${capital(row.resource_type)} ${row.resource_name}: ${row.rule}`);

/** Return what would have allowed the whole request, with a button that does it. */
function remedyOf(decided, page) {
  const remedy = decided.find((row) => row.would_allow)?.would_allow;
  if (!remedy) return "";
  const steps = ["add", "remove"].flatMap((verb) => remedy[verb].map((rule) => [verb, rule]));
  const rules = steps.map(([, rule]) => rule);
  const buttons = element("p", { class: "buttons" }, copier(JSON.stringify(rules.length === 1 ? rules[0] : rules)));
  if (!page.recording) buttons.append(grantButton(remedy, steps.length, page));
  return section("To allow the whole request", element("ul", {}, ...steps.map(([verb, rule]) => element("li", {}, `${verb} ${ruleText(rule)}`))),
    ...(remedy.advice ? [element("p", { text: `${remedy.advice}.` })] : []),
    ...(remedy.complete ? [] : [element("p", { text: "The broker may check further names after this change." })]), buttons);
}

function grantButton({ add, remove }, count, page) {
  const verb = !remove.length ? "Add" : !add.length ? "Remove" : "Do";
  const grant = button(`${verb} ${count > 1 ? verb === "Do" ? "all" : "them" : "it"}`, async () => {
    const done = [add.length && `${counted(add.length, "ACL")} added`, remove.length && `${counted(remove.length, "ACL")} removed`];
    if (!await page.act(done.filter(Boolean).join(", "), ...callsToChange({ add, remove }))) return;
    grant.textContent = "Done";
    grant.disabled = true;
  }, { class: "grant" });
  return grant;
}
