// Requests and decisions, with their details and what would have allowed a denied access.

import { badge, button, capital, clockTime, copier, duration, element, hexdump, json, section } from "./elements.js";
import { connectHelp } from "./connect.js";

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
    sameness.set(row, JSON.stringify([row.api, row.version, about(row), row.principal, row.client_id,
      row.errors, row.faults]));
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
  columns: ["#", "Time (UTC)", "API", "Resources", "Principal", "Client", "Latency", "Answer"],
  key: (row) => String(row.number),
  cells: (row) => [
    { text: row.number, class: "number" },
    { text: clockTime(row.time_us) },
    { node: element("span", {}, `${row.api} v${row.version}`,
      row.times ? element("span", { class: "times", text: ` ×${row.times}` }) : "") },
    { text: about(row), class: "long", title: about(row) },
    { text: row.principal },
    { text: row.client_id ?? "" },
    { text: duration(row.latency_us) },
    answer(row),
  ],
  detail,
  isWide: true,
  empty: (page) => element("div", {},
    element("p", { text: "No requests yet. Connect a client to see its requests here." }),
    ...(page.recording ? [] : [connectHelp(page)])),
};

function answer(row) {
  if (row.errors === null) return { text: "no response yet", class: "none" };
  const struck = row.faults.length ? ` (fault ${row.faults.join(", ")})` : "";
  const names = [...new Set(row.error_names)];
  if (!names.length && !struck) return { text: "ok", class: "none" };
  return { node: badge(!names.length, (names.join(", ") || "ok") + struck) };
}

const wanted = (row) => `${capital(row.operation)} ${capital(row.resource_type)} ${row.resource_name}`;

export const decisions = {
  title: "Decisions",
  columns: ["#", "Time (UTC)", "Decision", "Principal", "Access", "Reason", "Request"],
  key: (row) => JSON.stringify([row.number, row.operation, row.resource_type, row.resource_name]),
  cells: (row) => [
    { text: row.number, class: "number" },
    { text: clockTime(row.time_us) },
    { node: badge(row.allowed, row.allowed ? "allowed" : "denied") },
    { text: row.principal },
    { text: wanted(row) },
    { text: row.rule, class: "wide" },
    { text: `${row.api} v${row.version}` },
  ],
  detail,
  isWide: true,
  empty: "No decisions yet.",
};

/** Return the details of a request, or of the request that a decision belongs to. */
async function detail(row, page) {
  const before = row.number - 1;
  const [found, decided, full] = await Promise.all([
    page.ask("GET", `requests?after=${before}&limit=1`),
    page.ask("GET", `decisions?after=${before}&limit=1`),
    page.recording ? null : page.ask("GET", `requests/${row.number}`).catch(() => null),
  ]);
  const same = (other) => other.number === row.number;
  const request = found.requests.find(same);
  const seen = request ?? row;
  const own = decided.decisions.filter(same);
  const nodes = [
    element("h2", { text: `#${row.number} ${row.api} v${row.version}` }),
    element("p", { text: `${row.principal} from ${row.host}, client ${row.client_id ?? "unnamed"}`
      + (seen.latency_us === undefined ? "" : `, answered after ${duration(seen.latency_us) || "no time yet"}`) }),
  ];
  if (own.length) {
    nodes.push(section("Decisions", element("ul", {}, ...own.map((one) => decision(one, page)))));
  }
  if (request?.decisions_left_out) {
    nodes.push(element("p", { text: `${request.decisions_left_out} more decisions were not kept` }));
  }
  if (seen.errors?.length) {
    nodes.push(section("Errors of the response", element("p", { text: seen.error_names.join(", ") })));
  }
  if (full) nodes.push(exchange(full));
  else if (seen.request) nodes.push(section("Request", json(seen.request)));
  return { nodes };
}

/** Show request and answer side by side, decoded or as bytes. */
function exchange(full) {
  const made = element("div", { class: "exchange" });
  const long = full.response_bytes && full.response_hex === null;
  const missing = long ? `${full.response_bytes} bytes: not kept, since longer than 16 KiB` : "no response yet";
  function sides(isHex) {
    const text = (decoded, hex) => (isHex || decoded === null ? hexdump(hex) : json(decoded));
    made.replaceChildren(
      section(`Request, ${full.request_hex.length / 2} bytes`, text(full.request, full.request_hex)),
      full.response_hex === null
        ? section("Answer", element("p", { text: missing }))
        : section(`Response, ${full.response_bytes} bytes`, text(full.response, full.response_hex)),
    );
  }
  const bytes = button("Show bytes", () => {
    const isHex = bytes.getAttribute("aria-pressed") !== "true";
    bytes.setAttribute("aria-pressed", String(isHex));
    sides(isHex);
  }, { "aria-pressed": "false", id: "bytes" });
  sides(false);
  return element("div", {}, element("p", { class: "buttons" }, bytes), made);
}

/** Describe a rule to add or to remove. */
function ruleText(rule) {
  const words = Object.entries(rule).map(([key, value]) => `${key}: ${[value].flat().join(", ")}`);
  return `{${words.join("; ")}}`;
}

/** Describe the rules to remove and to add, which together allow the request. */
function remedyText(remedy) {
  const steps = ["remove", "add"].flatMap(verb => remedy[verb].map(rule => `${verb} ${ruleText(rule)}`));
  return steps.join(" and ");
}

/** Remove and add the rules of a remedy; return whether all of it was done. */
async function applyRemedy(remedy, page) {
  const { remove, add } = remedy;
  if (remove.length && !await page.act("POST", "acls/remove", { acls: remove })) return false;
  return !add.length || await page.act("POST", "acls", { acls: add });
}

function remedyLabel(remedy) {
  if (!remedy.remove.length) return remedy.add.length > 1 ? "Add them" : "Add it";
  if (!remedy.add.length) return remedy.remove.length > 1 ? "Remove them" : "Remove it";
  return "Do both";
}

function decision(row, page) {
  const item = element("li", {}, badge(row.allowed, row.allowed ? "allowed" : "denied"),
    ` ${wanted(row)}: ${row.rule}`);
  if (!row.would_allow) return item;
  const remedy = row.would_allow;
  const rules = [...remedy.remove, ...remedy.add];
  item.append(element("br"), `to allow the request, ${remedyText(remedy)} `,
    element("span", { class: "buttons" }, copier(JSON.stringify(rules.length === 1 ? rules[0] : rules))));
  if (!page.recording) {
    const grant = button(remedyLabel(remedy), async () => {
      if (!await applyRemedy(remedy, page)) return;
      grant.textContent = "Done";
      grant.disabled = true;
    }, { class: "grant" });
    item.lastChild.append(" ", grant);
  }
  return item;
}
