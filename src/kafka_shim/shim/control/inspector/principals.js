// Principals: users, owners of ACLs and all who sent requests; the fewest ACLs for what one tried.

import { aclText, callsToChange, ENDINGS, FORMATS, openResponse } from "./acls.js";
import { tabLink } from "./address.js";
import { badge, button, copier, counted, downloadLink, element, field, form, input, section, select, table } from "./elements.js";
import { differences } from "./preview.js";
import { denied, kept, loadDenied, loadNew } from "./request_history.js";
import { sync, syncPart } from "./rows.js";

/** Return a row for each principal; `state` is that of the cluster. */
function principalRows(state) {
  const rows = new Map();
  const row = (principal) => {
    if (!rows.has(principal)) rows.set(principal, { principal, requests: 0, denied: 0, clients: [], acls: 0, user: null, isSuper: false });
    return rows.get(principal);
  };
  for (const name of state.users) row(`User:${name}`).user = name;
  for (const principal of state.super_users) row(principal).isSuper = true;
  for (const acl of state.acls) row(acl.principal).acls += 1;
  for (const request of kept.requests.length ? kept.requests : kept.decisions) { // a log has decisions only
    const one = row(request.principal);
    one.requests += 1;
    one.denied += denied.has(request.number) ? 1 : 0;
    if (request.client_id && !one.clients.includes(request.client_id)) one.clients.push(request.client_id);
  }
  return [...rows.values()].sort((one, other) => one.principal.localeCompare(other.principal));
}

export const principals = {
  title: "Principals",
  columns: ["Principal", "Requests", "Denied", "Clients", "ACLs", "Authentication", ""],
  extra: ["Requests", "Clients", "Authentication"],
  async load({ call, recording }) {
    if (recording) return { rows: principalRows({ users: [], super_users: [], acls: [] }) };
    await loadNew("requests");
    await loadDenied();
    return { rows: principalRows(await call("GET", "state")) };
  },
  rows: (data) => data.rows,
  key: (row) => row.principal,
  cells: (row) => [
    { text: row.principal },
    { text: row.requests },
    row.denied ? { node: badge(false, row.denied), sort: row.denied } : { text: 0, class: "none" },
    { text: row.clients.join(", ") },
    { text: principals.page.recording ? "not recorded" : row.isSuper ? "super user" : counted(row.acls, "ACL") },
    { text: principals.page.recording ? "not recorded" : row.user === null ? "none" : "password", class: row.user === null ? "none" : "" },
    { node: row.user === null ? element("span") : button("Remove", () => principals.removeUser(row.user)) },
  ],
  tools(page) {
    principals.page = page;
    if (page.recording) return [];
    principals.removeUser = (name) => confirm(`Remove the user ${name}? The password cannot be restored.`)
      && page.act(`User ${name} removed`, ["DELETE", `users/${encodeURIComponent(name)}`]);
    return [form("new-user", "Add a user", [
      field("Name", input("name", { required: true })),
      field("Password", input("password", { required: true })),
    ], "Add, or change the password", async ({ name, password }, made) => {
      page.clearFilter();
      if (await page.act(`${name} can log in`, ["POST", "users", { name, password }])) made.reset();
    })];
  },
  detail,
  isWide: true,
  empty: "There are no users, and no client has sent a request.",
};

function detail({ principal }, page) {
  const shown = element("div", { id: "least" });
  const own = element("div");
  const client = select("client", [["", "all clients"]], { id: "least-client" });
  const format = select("format", FORMATS, { id: "least-format" });
  let drawn = "";
  const other = select("other", [], { id: "other" });
  const compared = element("div", { id: "compared" });
  other.addEventListener("change", async () => {
    const query = new URLSearchParams({ first: principal, second: other.value });
    compared.replaceChildren(...(other.value ? [differences(await page.call("GET", `principals/difference?${query}`))] : []));
  });

  async function load() {
    const query = new URLSearchParams({ principal, format: format.value });
    if (client.value) query.set("client_id", client.value);
    const response = await page.call("GET", `least-acls?${query}`).catch((error) => ({ error: error.message }));
    syncPart(shown, response, () => leastAcls(response, page, load));
  }
  async function update() {
    const row = page.data("principals")?.rows.find((one) => one.principal === principal);
    if (!row) return;
    syncPart(own, row, () => element("p", { class: "buttons" },
      ...(page.recording ? [] : [element("a", { class: "button", href: tabLink("acls", { filter: `principal:"${principal}"` }), text: row.isSuper ? "Super user" : counted(row.acls, "ACL") })]),
      ...(row.acls ? [button("Export its ACLs", () => openResponse(page, `acls/export?${new URLSearchParams({ principal, format: format.value })}`), { id: "export" })] : []),
      element("a", { class: "button", href: tabLink("requests", { filter: `principal:"${principal}"` }), text: counted(row.requests, "request") }),
      element("a", { class: "button", href: tabLink("decisions", { filter: `principal:"${principal}"`, denied: "1" }), text: `${row.denied} denied` })));
    const others = page.data("principals").rows.map((one) => one.principal).filter((one) => one !== principal && one !== "User:*");
    sync(other, ["", ...others], String, (name) => element("option", { value: name, text: name || "choose a principal" }));
    for (const name of row.clients.slice(client.options.length - 1)) client.append(element("option", { value: name, text: name }));
    if (drawn === `${row.requests} ${row.acls}`) return; // nothing has changed
    drawn = `${row.requests} ${row.acls}`;
    await load();
  }
  client.addEventListener("change", load);
  format.addEventListener("change", load);
  update();
  return {
    update,
    nodes: [element("h2", { text: principal }), own,
      section(`ACLs for everything that ${principal} tried`,
        element("div", { class: "inline" }, field("Client", client), field("Copy as", format)), shown),
      ...(page.recording ? [] : [section("Compared with another principal", element("div", { class: "inline" }, field("Principal", other)), compared)])],
  };
}

/** Show the fewest ACLs, what each is for, and how to add or copy them. */
function leastAcls({ error, acls, remove, requests, decisions_left_out: leftOut, text, format }, page, reload) {
  if (error) return element("p", { class: "bad", text: error });
  if (!acls.length) return element("p", { text: `${counted(requests, "request")}, which need no ACL.` });
  const missing = acls.filter((row) => !row.exists).map((row) => row.acl);
  const state = ({ exists }) => (exists === null ? "" : badge(exists, exists ? "exists" : "missing"));
  const addAll = button(missing.length ? `Add all ${missing.length}` : "All of them exist", async () => {
    if (await page.act(`${counted(missing.length, "ACL")} added`, ...callsToChange({ add: missing, remove }))) await reload();
  }, { id: "add-all", disabled: !missing.length && !remove.length });
  return element("div", {},
    table("The fewest ACLs", ["", "ACL", "Needed by", "Requests"], [
      ...acls.map((row) => [state(row), aclText(row.acl), row.apis.join(", "), row.requests]),
      ...remove.map((acl) => [badge(false, "remove"), aclText(acl), "denies these requests", ""])]),
    ...(leftOut ? [element("p", { text: `${leftOut} decisions were not kept and are not considered.` })] : []),
    element("p", { class: "none", text: "A denied request does not show all that it needs: after adding ACLs, run the client again." }),
    element("p", { class: "buttons" }, ...(page.recording ? [] : [addAll]), copier(text), downloadLink(text, `acls.${ENDINGS[format]}`)),
    element("pre", { id: "least-text", tabindex: "0", text }));
}
