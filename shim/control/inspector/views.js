// What each tab shows: the columns of its rows, and what a row says in detail.

const LETTERS = {
  READ: "R", WRITE: "W", CREATE: "C", DELETE: "X", ALTER: "A", DESCRIBE: "D",
  DESCRIBE_CONFIGS: "dc", ALTER_CONFIGS: "ac",
};

const time = (us) => new Date(us / 1000).toISOString().slice(11, 23);

const NAMES = ["name", "topic", "groupId", "transactionalId", "resourceName", "key"];

/** The topics, groups and other resources that a request names. */
function named(value, found = new Set()) {
  for (const [key, inner] of Object.entries(value ?? {})) {
    if (typeof inner === "object" && inner !== null) named(inner, found);
    else if (typeof inner === "string" && inner && NAMES.includes(key)) found.add(inner);
  }
  return found;
}

function about(row) {
  const names = [...named(row.request)];
  const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
  return names.slice(0, 3).join(", ") + more;
}

const capital = (name) => name.split("_").map((w) => w[0] + w.slice(1).toLowerCase()).join("");

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") made.textContent = value;
    else if (name === "onclick") made.addEventListener("click", value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export const badge = (isGood, text) => element("span", { class: isGood ? "good" : "bad", text });

/** The shell command for `would_allow`: a rule to add, or one that is in the way. */
export function remedy(would) {
  if (!would) return "";
  const rule = would.add ?? would.remove;
  const words = Object.entries(rule).map(([key, value]) => `${key}: ${[value].flat().join(", ")}`);
  return `${would.add ? "add" : "remove"} {${words.join("; ")}}`;
}

export const requests = {
  columns: ["#", "Time (UTC)", "API", "About", "Principal", "Client", "Answer"],
  cells: (row) => [
    { text: row.number, class: "number" },
    { text: time(row.time_us) },
    { text: `${row.api} v${row.version}` },
    { text: about(row) },
    { text: row.principal },
    { text: row.client_id ?? "" },
    answer(row),
  ],
  empty: "No requests yet. Connect a client, and they appear here.",
};

function answer(row) {
  if (row.errors === null) return { text: "no answer yet", class: "none" };
  const struck = row.faults.length ? ` (fault ${row.faults.join(", ")})` : "";
  const names = [...new Set(row.error_names)];
  if (!names.length && !struck) return { text: "ok", class: "none" };
  return { node: badge(!names.length, (names.join(", ") || "ok") + struck) };
}

export const decisions = {
  columns: ["#", "Time (UTC)", "Decision", "Principal", "Wanted", "Because", "By"],
  cells: (row) => [
    { text: row.number, class: "number" },
    { text: time(row.time_us) },
    { node: badge(row.allowed, row.allowed ? "allowed" : "denied") },
    { text: row.principal },
    { text: `${capital(row.operation)} ${capital(row.resource_type)} ${row.resource_name}` },
    { text: row.rule, class: "wide" },
    { text: `${row.api} v${row.version}` },
  ],
  empty: "Nothing was decided yet.",
};

export const acls = {
  columns: ["Principal", "Permission", "Operation", "Resource", "Name", "Pattern", "Host"],
  cells: (row) => [
    { text: row.principal },
    { node: badge(row.permission === "ALLOW", row.permission.toLowerCase()) },
    { text: capital(row.operation) },
    { text: capital(row.resource_type) },
    { text: row.resource_name },
    { text: row.resource_pattern_type.toLowerCase() },
    { text: row.host },
  ],
  empty: "There are no ACLs: only super users may do anything.",
};

export const matrix = {
  columns: (data) => ["Principal", ...data.topics],
  cells: (row) => [
    { text: row.principal, heading: true },
    ...row.allowed.map((names) => ({
      text: names.length ? names.map((name) => LETTERS[name]).join(" ") : "–",
      class: names.length ? "" : "none",
      title: names.map(capital).join(", ") || "nothing",
    })),
  ],
  note: (data) =>
    "R read · W write · C create · X delete · A alter · D describe · dc, ac describe and alter "
    + `configs; from ${data.host}` + (data.truncated ? "; there are more than are shown" : ""),
  empty: "There are no topics or no principals yet.",
};

export function faults(act) {
  return {
    columns: ["Id", "Action", "Requests", "When", "Matched", "Fired", ""],
    cells: (row) => [
      { text: row.id, class: "number" },
      { text: JSON.stringify(row.action), class: "wide" },
      { text: JSON.stringify(row.match) },
      { text: JSON.stringify(row.trigger) },
      { text: row.calls, class: "number" },
      { text: row.fired, class: "number" },
      { node: buttons(row, act) },
    ],
    empty: "No faults are set.",
  };
}

function buttons(row, act) {
  const lift = () => act("DELETE", `faults/${row.id}`);
  const release = () => act("POST", `faults/${row.id}/release`);
  const made = [element("button", { type: "button", text: "Lift", onclick: lift })];
  if (row.action.pause) {
    made.unshift(element("button", { type: "button", text: "Release", onclick: release }), " ");
  }
  return element("span", {}, ...made);
}

/** What the side shows of a request or a decision; `decided` are those of the same request. */
export function detail(row, request, decided) {
  const seen = request ?? row;
  const parts = [
    element("h2", { text: `#${row.number} ${row.api} v${row.version}` }),
    element("p", { text: `${row.principal} from ${row.host}, client ${row.client_id ?? "unnamed"}` }),
  ];
  if (decided.length) {
    parts.push(element("h3", { text: "Decisions" }), element("ul", {}, ...decided.map(decision)));
  }
  if (request?.decisions_left_out) {
    parts.push(element("p", { text: `${request.decisions_left_out} further decisions are not kept` }));
  }
  if (seen.errors?.length) {
    parts.push(element("h3", { text: "Errors of the answer" }),
      element("p", { text: seen.error_names.join(", ") }));
  }
  if (seen.request) {
    parts.push(element("h3", { text: "Request" }),
      element("pre", { text: JSON.stringify(seen.request, null, 2) }));
  }
  return parts;
}

function decision(row) {
  const wanted = `${capital(row.operation)} ${capital(row.resource_type)} ${row.resource_name}`;
  const item = element("li", {}, badge(row.allowed, row.allowed ? "allowed" : "denied"),
    ` ${wanted}: ${row.rule}`);
  if (row.would_allow) item.append(element("br"), `to allow it, ${remedy(row.would_allow)}`);
  return item;
}
