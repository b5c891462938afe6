// ACLs: a list, forms to add one and to ask who may do something, import and export.

import { tabLink } from "./address.js";
import { preview } from "./preview.js";
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
  async load({ call, data, lastNumbers }) {
    const former = data("acls"); // as long as nothing changes and nobody sends requests, thousands are not loaded
    if (former && lastNumbers !== null && former.lastNumbers === lastNumbers) return former;
    const [{ acls: rows }, used] = await Promise.all([call("GET", "acls"), call("GET", "acls/use")]);
    const uses = new Map(used.acls.map((one) => [JSON.stringify(one.acl), one]));
    return { lastNumbers, rows: rows.map((acl) => ({ ...acl, decisions: 0, since: used.since_us, ...uses.get(JSON.stringify(acl)), acl })) };
  },
  rows: (data) => data.rows,
  key: (row) => JSON.stringify(row.acl),
  detail(row, page) {
    const effect = element("div", { id: "without" });
    preview(page, effect, { remove: [row.acl] });
    return { nodes: [element("h2", { text: aclText(row.acl) }), section("Without it", effect)] };
  },
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
    acls.remove = (row) => page.act("ACL removed", ...callsToChange({ remove: [row] }));
    return [adding(page), asking(page), transfer(page)];
  },
  fields: {
    principal: ({ principal }, asked) => (principal === "User:*" && asked.startsWith("user:") ? asked : principal),
    ...Object.fromEntries(TYPES.map(([type]) => [type.toLowerCase(), (row, asked) => (row.resource_type === type ? coveredName(row, asked) : [])])),
  },
  empty: "There are no ACLs, so only super users are allowed anything.",
};

/** Return the name that was asked for if an ACL covers it, else its own. */
function coveredName({ resource_name: name, resource_pattern_type: pattern }, asked) {
  const isPrefix = pattern === "PREFIXED" && asked.startsWith(name.toLowerCase());
  return asked && (name === "*" || isPrefix) ? asked : name;
}

/** Link to the decisions that an ACL made, or say since when it made none. */
function use({ acl, decisions, last_used_us: last, since }) {
  if (!decisions) return { text: since ? `unused since ${clockTime(since)}` : "unused", class: "none", sort: 0 };
  const filter = `"${aclText(acl).split('"')[0]}"`;
  return { node: element("a", { href: tabLink("decisions", { filter }), text: `${clockTime(last)}, ${counted(decisions, "decision")}` }), sort: last };
}

/** Return a form that shows what the typed ACL would do, below it. */
function adding(page) {
  const effect = element("div", { id: "preview", role: "status" });
  const made = addingForm(page);
  let timer = 0;
  const { resource_type: type, resource_name: name } = made.elements;
  const show = () => {
    name.required = type.value !== "CLUSTER"; // there is one
    clearTimeout(timer);
    timer = setTimeout(() => (made.checkValidity() ? preview(page, effect, { add: [typedAcl(made)] }) : effect.replaceChildren()), 250);
  };
  for (const event of ["input", "change"]) made.addEventListener(event, show);
  made.addEventListener("reset", () => effect.replaceChildren());
  return element("div", {}, made, effect);
}

const addingForm = (page) => form("new-acl", "Add an ACL", [
  field("Principal", input("principal", { placeholder: "User:alice", required: true })),
  field("Permission", select("permission", [["ALLOW", "allow"], ["DENY", "deny"]])),
  field("Operation", select("operation", ["All", ...OPERATIONS].map((name) => [wire(name), name]))),
  field("Resource", select("resource_type", TYPES)),
  field("Name", input("resource_name", { placeholder: "orders", required: true })),
  field("Pattern", select("resource_pattern_type", [["LITERAL", "literal"], ["PREFIXED", "prefixed"]])),
  field("Host", input("host", { value: "*", class: "short" })),
], "Add the ACL", async (_, made) => {
  page.clearFilter();
  if (await page.act("ACL added", ...callsToChange({ add: [typedAcl(made)] }))) made.reset();
});

function typedAcl(made) {
  const { principal, ...given } = Object.fromEntries(new FormData(made));
  const isCluster = given.resource_type === "CLUSTER";
  return { ...given, principal: principal.includes(":") ? principal : `User:${principal}`, resource_name: isCluster ? "kafka-cluster" : given.resource_name };
}

/** Return the calls that add ACLs, and then remove others: without any ACL, a resource may be open to everyone. */
export const callsToChange = ({ add = [], remove = [] }) => [["acls", add], ["acls/remove", remove]]
  .filter(([, rows]) => rows.length).map(([path, rows]) => ["POST", path, { acls: rows }]);

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
        if (await page.act(({ acls: rows }) => `ACLs imported: ${rows.length}`, ["POST", "acls/import", given])) made.reset();
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
