// The overview: brokers, listeners, snippets to connect, counts, the clock.

import { tabLink } from "./address.js";
import { connectHelp } from "./connect.js";
import { badge, button, counted, element, field, form, input, instant, table } from "./elements.js";
import { syncPart } from "./rows.js";

const STEPS = [["1 s", 1000], ["1 min", 60_000], ["1 h", 3_600_000], ["1 day", 86_400_000]];

export const overview = {
  title: "Overview",
  async load({ call }) {
    const [state, nodes, listeners, clock] = await Promise.all(["state", "nodes", "listeners", "clock"].map((path) => call("GET", path)));
    return { state, nodes, listeners: listeners.listeners, clock };
  },
  body(container, data, page) {
    if (!container.children.length) container.append(element("div", { class: "cards" }, ...cards(page)));
    const part = (name) => container.querySelector(`[data-part="${name}"]`);
    syncPart(part("brokers"), data.nodes, () => brokers(data.nodes, page));
    syncPart(part("listeners"), data.listeners, () => listeners(data.listeners));
    syncPart(part("counts"), data.state, () => counts(data.state));
    container.querySelector("#now").textContent = instant(data.clock.now_ms);
    container.querySelector("#advance").hidden = !data.clock.is_manual;
    container.querySelector("#steps").hidden = !data.clock.is_manual;
    container.querySelector("#runs").hidden = data.clock.is_manual;
  },
};

const card = (title, ...nodes) => element("section", { class: "card" }, element("h2", { text: title }), ...nodes);
const part = (name) => element("div", { "data-part": name });

function cards(page) {
  return [
    card("Brokers", part("brokers")),
    card("Listeners", part("listeners")),
    card("Connect a client", connectHelp(page)),
    card("Cluster", part("counts"), reset(page)),
    card("Clock", ...time(page)),
  ];
}

function brokers({ nodes, controller_id: controller }, page) {
  return table("Brokers", ["Id", "State", "Addresses", ""], nodes.map((node) => {
    const verb = node.is_alive ? "stop" : "start";
    const addresses = Object.entries(node.listeners).map(([name, at]) => `${name} ${at}`);
    return [
      node.node_id === controller ? `${node.node_id}, controller` : node.node_id,
      badge(node.is_alive, node.is_alive ? "up" : "stopped"),
      element("ul", {}, ...addresses.map((text) => element("li", { text }))),
      button(verb === "stop" ? "Stop" : "Start", () => page.act(
        `Broker ${node.node_id} ${verb === "stop" ? "stopped" : "started"}`, ["POST", `nodes/${node.node_id}/${verb}`])),
    ];
  }));
}

const listeners = (rows) => table("Listeners", ["Name", "Bootstrap servers", "SASL mechanisms"],
  rows.map((row) => [
    row.name === row.security_protocol ? row.name : `${row.name} (${row.security_protocol})`,
    row.bootstrap_servers, row.sasl_mechanisms.join(", ") || "none",
  ]));

function counts(state) {
  const names = { topics: "topic", groups: "group", users: "user", acls: "ACL" };
  const links = Object.entries(names).map(([tab, name]) =>
    element("a", { href: tabLink(tab === "users" ? "principals" : tab), text: counted(state[tab].length, name) }));
  return element("div", {},
    element("p", {}, ...links.flatMap((one) => [one, " "])),
    element("p", { text: `Super users: ${state.super_users.join(", ") || "none"}` }),
    element("p", { text: `Cluster id: ${state.cluster_id}` }));
}

const reset = (page) => element("p", { class: "buttons" }, button("Reset the broker", () => {
  if (confirm("Reset the broker to its state at startup?")) page.act("The broker is as it was at startup", ["POST", "reset"]);
}));

function time(page) {
  const advance = (by) => page.act("Clock advanced", ["POST", "clock/advance", { by_ms: by }]);
  return [
    element("p", { id: "now", class: "mono" }),
    element("p", { id: "runs", text: "The clock follows real time. Start with --manual-clock to advance it here." }),
    element("p", { id: "steps", class: "buttons" }, ...STEPS.flatMap(
      ([text, by]) => [button(`+ ${text}`, () => advance(by)), " "])),
    form("advance", "Advance the clock", [
      field("Milliseconds", input("by", { type: "number", min: "0", value: "1000", required: true })),
    ], "Advance", ({ by }) => advance(Number(by))),
  ];
}
