// ACLs: a list, forms to add one and to ask who may do something, import and export.

import { tabLink } from "./address.js";
import { badge, button, capital, clockTime, copier, counted, downloadLink, element, field, form, input, section, select } from "./elements.js";

export const TYPES = [["TOPIC", "Topic"], ["GROUP", "Group"], ["CLUSTER", "Cluster"],
  ["TRANSACTIONAL_ID", "TransactionalId"], ["DELEGATION_TOKEN", "DelegationToken"], ["USER", "User"]];
const OPERATIONS = ["Read", "Write", "Create", "Delete", "Alter", "Describe", "ClusterAction", "DescribeConfigs", "AlterConfigs",
  "IdempotentWrite", "CreateTokens", "DescribeTokens", "TwoPhaseCommit"];
export const FORMATS = [["commands", "kafka-acls commands", "sh"], ["yaml", "YAML", "yaml"], ["json", "JSON", "json"],
  ["list", "output of kafka-acls --list", "txt"], ["csv", "CSV (kafka-security-manager)", "csv"],
  ["strimzi", "Strimzi KafkaUser", "yaml"], ["jikkou", "jikkou", "yaml"], ["terraform", "Terraform (Mongey/kafka)", "tf"],
  ["terraform-confluent", "Terraform (confluent)", "tf"], ["zookeeper", "ZooKeeper nodes", "txt"], ["audit-log", "lines of the audit log", "log"]];
export const ENDINGS = Object.fromEntries(FORMATS.map(([name, , ending]) => [name, ending]));
const wire = (name) => name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

export const acls = {
  title: "ACLs",
  extra: ["Pattern", "Host"],
  columns: ["Principal", "Permission", "Operation", "Resource", "Name", "Pattern", "Host", "Last used (UTC)", ""],
  async load({ call }) {
    const [{ acls: rows }, used] = await Promise.all([call("GET", "acls"), call("GET", "acls/use")]);
    const uses = new Map(used.acls.map((one) => [JSON.stringify(one.acl), one]));
    return { acls: rows, rows: rows.map((acl) => ({ ...acl, decisions: 0, since: used.since_us, ...uses.get(JSON.stringify(acl)), acl })) };
  },
  rows: (data) => data.rows,
  cells: (row) => [
    { text: row.principal },
    { node: badge(row.permission === "ALLOW", row.permission.toLowerCase()) },
    { text: capital(row.operation) },
    { text: capital(row.resource_type) },
    { text: row.resource_name },
    { text: row.resource_pattern_type.toLowerCase() },
    { text: row.host },
    use(row),
    { node: button("Remove", () => acls.remove(row.acl)) },
  ],
  tools(page) {
    acls.remove = (row) => page.act("POST", "acls/remove", { acls: [row] }, {
      done: "ACL removed", undo: () => ["POST", "acls", { acls: [row] }],
    });
    return [adding(page), asking(page), transfer(page)];
  },
  empty: "There are no ACLs, so only super users are allowed anything.",
};

/** Link to the decisions that an ACL made, or say since when it made none. */
function use({ acl, decisions, last_used_us: last, since }) {
  if (!decisions) return { text: since ? `unused since ${clockTime(since)}` : "unused", class: "none", sort: 0 };
  const filter = `"${aclText(acl).split('"')[0]}"`;
  return { node: element("a", { href: tabLink("decisions", { filter }), text: `${clockTime(last)}, ${counted(decisions, "decision")}` }), sort: last };
}

const adding = (page) => form("new-acl", "Add an ACL", [
  field("Principal", input("principal", { placeholder: "User:alice", required: true })),
  field("Permission", select("permission", [["ALLOW", "allow"], ["DENY", "deny"]])),
  field("Operation", select("operation", ["All", ...OPERATIONS].map((name) => [wire(name), name]))),
  field("Resource", select("resource_type", TYPES)),
  field("Name", input("resource_name", { placeholder: "orders" })),
  field("Pattern", select("resource_pattern_type", [["LITERAL", "literal"], ["PREFIXED", "prefixed"]])),
  field("Host", input("host", { value: "*", class: "short" })),
], "Add the ACL", async (given) => {
  const isCluster = given.resource_type === "CLUSTER";
  const principal = given.principal.includes(":") ? given.principal : `User:${given.principal}`;
  const before = new Set(page.data("acls").acls.map((row) => JSON.stringify(row)));
  page.clearFilter();
  const added = ({ acls: rows }) => rows.filter((row) => !before.has(JSON.stringify(row)));
  await page.act("POST", "acls", {
    acls: [{ ...given, principal, resource_name: isCluster ? "kafka-cluster" : given.resource_name }],
  }, { done: "ACL added", undo: (response) => ["POST", "acls/remove", { acls: added(response) }] });
});

const asking = (page) => form("who-may", "List who can do something", [
  field("Who may", select("operation", OPERATIONS)),
  field("on the", select("resource_type", TYPES)),
  field("named", input("resource_name", { placeholder: "orders" })),
], "List", (given) => openResponse(page, `who-can?${new URLSearchParams(given)}`));

/** Show a response of the API in the details, or its error. */
export async function openResponse(page, path) {
  try {
    const response = await page.call("GET", path);
    page.showDetail("text" in response ? exported(response) : rights(response));
    page.note("");
  } catch (error) {
    page.note(error.message, true);
  }
}

function transfer(page) {
  const text = element("textarea", { name: "text", rows: "4", spellcheck: "false", required: true,
    placeholder: "kafka-acls commands or --list, YAML, JSON, CSV, Strimzi, Terraform …" });
  return element("details", { id: "import" }, element("summary", { text: "Import and export" }),
    form("import-acls", "Import ACLs", [field("ACLs to add; the format is detected", text)], "Import",
      async (given, made) => {
        page.clearFilter();
        const added = await page.act("POST", "acls/import", given);
        if (!added) return;
        made.reset();
        page.note(`ACLs imported: ${added.acls.length}`);
      }),
    form("export-acls", "Export ACLs", [field("Format", select("format", FORMATS))], "Export all ACLs",
      ({ format: name }) => openResponse(page, `acls/export?format=${name}`)));
}

function exported({ format: name, text }) {
  return [
    element("h2", { text: `ACLs as ${FORMATS.find(([value]) => value === name)[1]}` }),
    element("p", { class: "buttons" }, copier(text), downloadLink(text, `acls.${ENDINGS[name]}`)),
    element("pre", { id: "exported", tabindex: "0", text }),
  ];
}

function rights({ operation, resource_type: type, resource_name: name, allowed, denied }) {
  const nobody = element("p", { text: "Nobody." });
  const items = (rows, one) => (rows.length ? element("ul", {}, ...rows.map(one)) : nobody.cloneNode(true));
  return [
    element("h2", { text: `${capital(operation)} on ${capital(type)} ${name}` }),
    section("Allowed", items(allowed, (row) => element("li", {}, badge(true, "allowed"),
      ` ${row.everyone ? "everyone else" : row.principal} from ${hosts(row)}`,
      ...because(row.acls, row.because)))),
    section("Denied, although an ACL allows it", items(denied, (row) => element("li", {},
      badge(false, "denied"), ` ${row.principal}`, ...because(row.acls, "")))),
  ];
}

const hosts = (row) => (row.hosts.includes("*")
  ? `everywhere${row.except_hosts.length ? ` but ${row.except_hosts.join(", ")}` : ""}` : row.hosts.join(", "));

function because(rules, reason) {
  if (!rules.length) return reason ? [element("br"), reason.toLowerCase().replaceAll("_", " ")] : [];
  return rules.flatMap((acl) => [element("br"), aclText(acl)]);
}

/** Return an ACL of the API as a rule of a state file. */
function ruleOf(acl) {
  const operation = OPERATIONS.find((name) => wire(name) === acl.operation) ?? "All";
  const rule = { principal: acl.principal, [acl.permission.toLowerCase()]: operation };
  rule[acl.resource_type.toLowerCase().replace("_", "-")] = acl.resource_name;
  if (acl.resource_pattern_type === "PREFIXED") rule.pattern = "prefixed";
  return acl.host === "*" ? rule : { ...rule, host: acl.host };
}

/** Return a value of YAML, quoted where it would be read as something else. */
function plainOrQuoted(value) {
  return /^(?!(true|false|yes|no|on|off|null)$)([A-Za-z][\w./-]*(:[\w./-]+)*|\d+\.\d+\.\d+\.\d+(\/\d+)?)$/i.test(value) ? value : JSON.stringify(value);
}

/** Return a rule as the line that all outputs share. */
export function ruleText(rule) {
  const text = (value) => (Array.isArray(value) && value.length > 1 ? `[${value.join(", ")}]` : plainOrQuoted([value].flat()[0]));
  return `{${Object.entries(rule).map(([key, value]) => `${key}: ${text(value)}`).join(", ")}}`;
}

export const aclText = (acl) => ruleText(ruleOf(acl));
