// What changed in the broker's state: by whom, when, what was there before, and how to undo it.

import { tabLink } from "./address.js";
import { button, clockTime, element, instant, section, table } from "./elements.js";
import { actionText } from "./faults.js";

const TITLES = {
  acl: "ACL", "topic added": "Topic created", "topic removed": "Topic deleted", "user changed": "Password changed",
  "leader changed": "Leader moved", "broker added": "Broker started", "broker removed": "Broker stopped", "cluster changed": "Broker reset",
};
const title = ({ kind, action }) => TITLES[`${kind} ${action}`] ?? `${TITLES[kind] ?? kind[0].toUpperCase() + kind.slice(1)} ${action}`;
const BY = { inspector: "the inspector", "control API": "the control API", broker: "the broker itself" };
const text = (value) => (typeof value === "string" ? value : JSON.stringify(value) ?? "");
const isObject = (value) => typeof value === "object" && value !== null;

/** `topic orders: retention.ms 1000 → 5`, `orders-0: 2 → 1`, `orders (partitions 3)` or only the name. */
function itemText({ name, before, after }) {
  const only = before ?? after;
  if (only === null) return name;
  if (before === null || after === null) return `${name} (${isObject(only) ? actionText(only.action ?? only) : only})`;
  if (!isObject(after)) return `${name}: ${before} → ${after}`;
  return `${name}: ${Object.keys(after).map((key) => `${key} ${before[key] ?? "unset"} → ${after[key] ?? "unset"}`).join(", ")}`;
}

function originator({ by }) {
  if (by.kind !== "client") return element("span", { text: BY[by.kind] });
  return element("a", { href: tabLink("requests", { open: String(by.request) }), text: `${by.principal}, ${by.client_id ?? "unnamed"}, #${by.request}` });
}

const unseen = element("p", { class: "none", text: "Changes of ACLs are not listed: only those of the StandardAuthorizer are." });
let rows = [];
let last = 0;

export const changes = {
  title: "Changes",
  columns: ["#", "Time (UTC)", "Change", "What", "By", ""],
  extra: ["#"],
  async load({ call }) {
    const page = await call("GET", `changes?after=${Math.max(last - 1, 0)}`); // the last one can still grow
    unseen.hidden = page.observes_acls;
    rows = page.last < last ? [] : rows.filter((row) => row.number < last);
    last = page.last < last ? 0 : page.last;
    rows.push(...page.changes.filter((row) => row.number > (rows.at(-1)?.number ?? 0)));
    return { rows: rows.toReversed() };
  },
  rows: (data) => data.rows,
  key: (row) => String(row.number),
  cells: (row) => [
    { text: row.number, class: "number" },
    { text: clockTime(row.time_ms * 1000), sort: row.time_ms },
    { text: title(row) },
    { text: row.items.slice(0, 3).map(itemText).join("; ") + (row.items.length > 3 ? ` and ${row.items.length + row.items_left_out - 3} more` : ""), class: "wide" },
    { node: originator(row) },
    { node: row.undo.length ? button("Undo", () => undo(row)) : element("span") },
  ],
  tools(page) {
    changes.page = page;
    return [unseen];
  },
  detail: (row) => ({ nodes: [
    element("h2", { text: `${title(row)}, ${instant(row.time_ms)}` }), element("p", {}, "by ", originator(row)),
    section("What", table("What", ["Name", "Before", "After"], row.items.map((one) => [one.name, text(one.before ?? ""), text(one.after ?? "")]))),
    element("p", { class: "none", text: row.items_left_out ? `${row.items_left_out} more are not kept.` : "" }),
  ] }),
  empty: "Nothing has changed since the broker started.",
};

/** Return calls of the API as arguments. */
export const callsOf = (undo) => undo.map(({ method, path, body }) => [method, path, body ?? undefined]);

async function undo(row) {
  if (row.kind === "topic" && !confirm("Delete these topics with all their records?")) return;
  await changes.page.act("Undone", ...callsOf(row.undo));
}
