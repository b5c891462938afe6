// The matrix: principals by resources. Only the visible part is loaded and drawn.

import { aclText, callsToChange, TYPES } from "./acls.js";
import { address, go } from "./address.js";
import { badge, button, capital, counted, docLink, element, field, input, select, table } from "./elements.js";
import { syncPart } from "./rows.js";

const LETTERS = {
  READ: "R", WRITE: "W", CREATE: "C", DELETE: "X", ALTER: "A", DESCRIBE: "D", CLUSTER_ACTION: "ca",
  DESCRIBE_CONFIGS: "dc", ALTER_CONFIGS: "ac", IDEMPOTENT_WRITE: "iw", CREATE_TOKENS: "ct",
  DESCRIBE_TOKENS: "dt", TWO_PHASE_COMMIT: "2p",
};
const ROW = 28; // the height of a row, and the widths of columns, in pixels; as the style has them
const COLUMN = 160;
const FIRST = 200;

const FILTERS = { type: "TOPIC", host: "127.0.0.1", principal: "", resource: "" }; // what the address does not say
const seen = { rows: [0, 40], columns: [0, 12] };
const asked = (name) => address[name] || FILTERS[name];

export const matrix = {
  title: "Matrix",
  load: ({ call }) => call("GET", `matrix?${new URLSearchParams({
    resource_type: asked("type"), host: asked("host"),
    first_principal: seen.rows[0], principals: seen.rows[1],
    first_resource: seen.columns[0], resources: seen.columns[1],
    principal_contains: asked("principal"), resource_contains: asked("resource"),
  })}`),
  isWide: true,
  tools(page) {
    matrix.page = page;
    const type = select("resource_type", TYPES, { id: "matrix-type" });
    const host = input("host", { id: "matrix-host" });
    const principal = input("principal", { type: "search", placeholder: "all", id: "matrix-principal" });
    const resource = input("resource", { type: "search", placeholder: "all", id: "matrix-resource" });
    matrix.controls = { type, host, principal, resource };
    for (const [name, control] of Object.entries(matrix.controls)) {
      control.addEventListener(control.type === "search" ? "input" : "change", () => {
        go({ [name]: control.value.trim() === FILTERS[name] ? "" : control.value.trim() }, true);
        page.refresh().catch(() => {}); // the next tick reports it
      });
    }
    return [element("div", { class: "inline" }, field("Resource type", type), field("Client's host", host),
      field("Principals containing", principal), field("Resources containing", resource)),
    element("p", { id: "letters" })];
  },
  body(container, data, page) {
    for (const [name, control] of Object.entries(matrix.controls)) {
      if (control !== document.activeElement) control.value = asked(name);
    }
    let grid = container.querySelector("#grid");
    if (!grid) {
      grid = element("div", { id: "grid", tabindex: "0", role: "region", "aria-label": "Matrix" });
      grid.addEventListener("scroll", () => look(grid, page), { passive: true });
      container.append(element("p", { id: "sizes" }), grid);
      look(grid, page);
    }
    describe(container, data);
    grid.hidden = !data.resources.length || !data.principals.length;
    syncPart(grid, data, drawn);
  },
};

/** Load the visible part, if it has changed. */
function look(grid, page) {
  const rows = [Math.max(Math.floor(grid.scrollTop / ROW) - 5, 0), Math.ceil(grid.clientHeight / ROW) + 10];
  const columns = [Math.max(Math.floor(grid.scrollLeft / COLUMN) - 2, 0), Math.ceil(grid.clientWidth / COLUMN) + 4];
  if (String([rows, columns]) === String([seen.rows, seen.columns])) return;
  Object.assign(seen, { rows, columns });
  page.refresh().catch(() => {}); // the next tick reports it
}

function describe(container, { resource_type: type, principals, resources, rows }) {
  const name = capital(type).replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).toLowerCase();
  const sizes = `${counted(principals.length, "principal")}, ${counted(resources.length, name)}`;
  container.querySelector("#sizes").textContent = resources.length && principals.length
    ? sizes : `No ${name}s or no principals${address.principal || address.resource ? " match" : " yet"}.`;
  const used = new Set(rows.flatMap((row) => [...row.allowed, ...row.denied].flat()));
  document.getElementById("letters").textContent = [...used]
    .map((one) => `${LETTERS[one]} ${capital(one).replace(/(?<=[a-z])[A-Z]/g, (x) => ` ${x}`).toLowerCase()}`)
    .concat(rows.some((row) => row.denied.flat().length) ? ["struck through: denied by an ACL"] : []).join(" · ");
}

/** `warehouse-…-eu-west-1`: names often differ at their end. */
function middleCut(name, length = 14) {
  return name.length > length ? `${name.slice(0, length / 2 - 1)}…${name.slice(-length / 2)}` : name;
}

/** Return a cell: what is allowed, and struck through what a DENY ACL denies; it opens the reasons. */
function cell({ principal, allowed, denied }, at, resource) {
  const letters = (names) => names.map((name) => LETTERS[name] ?? capital(name)).join(" ");
  const title = `${allowed[at].map(capital).join(", ") || "nothing"}${denied[at].length ? `; denied by an ACL: ${denied[at].map(capital).join(", ")}` : ""}`;
  return element("td", {}, element("button", {
    type: "button", title, class: allowed[at].length ? "" : "none", onclick: () => explain(principal, resource),
  }, letters(allowed[at]) || (denied[at].length ? "" : "–"), " ", denied[at].length ? element("s", { class: "bad", text: letters(denied[at]) }) : ""));
}

/** Show the decision about each operation with its reason, and how to change it. */
async function explain(principal, name) {
  const { act, call, showDetail } = matrix.page;
  const access = await call("GET", `access?${new URLSearchParams({ principal, host: asked("host"), resource_type: asked("type"), resource_name: name })}`);
  const change = async (done, changed) => await act(done, ...callsToChange(changed)) && explain(principal, name);
  showDetail([element("h2", { text: `${principal} on ${capital(asked("type"))} ${name}` }),
    table(`From ${access.host}`, ["Operation", "", "Because of", ""], access.operations.map((row) => [
      docLink(row.operation, capital(row.operation)), badge(row.allowed, row.allowed ? "allowed" : "denied"), row.acl ? aclText(row.acl) : row.because,
      row.acl ? button("Remove the ACL", () => change("ACL removed", { remove: [row.acl] }))
        : row.allowed ? "" : button("Grant", () => change("ACL added", { add: [row.narrowest_acl] }))]))]);
}

/** Return a table of the whole size, with empty cells for everything out of sight. */
function drawn({ principals, resources, first_principal: top, first_resource: left, rows }) {
  const width = rows[0]?.allowed.length ?? 0;
  const shown = resources.slice(left, left + width);
  const room = (size) => {
    const cell = element("td", { class: "room", "aria-hidden": "true" });
    cell.style.width = cell.style.minWidth = `${size}px`;
    return cell;
  };
  const before = left * COLUMN;
  const after = (resources.length - left - width) * COLUMN;
  const gap = (size) => {
    const line = element("tr", { class: "gap", "aria-hidden": "true" }, element("td", { class: "room" }));
    line.firstChild.style.height = `${size}px`;
    return line;
  };
  const made = element("table", { "aria-rowcount": principals.length + 1, "aria-colcount": resources.length + 1 },
    element("caption", { text: "Who can do what" }),
    element("thead", {}, element("tr", {}, element("th", { scope: "col", text: "Principal" }), room(before),
      ...shown.map((text, at) => element("th", { scope: "col", text: middleCut(text), title: text, "aria-colindex": left + at + 2 })),
      room(after))),
    element("tbody", {}, gap(top * ROW), ...rows.map((row, at) => element("tr", { "aria-rowindex": top + at + 2 },
      element("th", { scope: "row", text: middleCut(row.principal, 24), title: row.principal }), room(before),
      ...row.allowed.map((names, column) => cell(row, column, shown[column])), room(after))),
    gap((principals.length - top - rows.length) * ROW)));
  made.style.width = `${FIRST + resources.length * COLUMN}px`;
  return made;
}
