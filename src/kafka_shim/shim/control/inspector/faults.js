// Faults: a form with the JSON that it makes, which can be edited.

import { button, element, field, input, select } from "./elements.js";

const NUMBER = (label, value) => ({ label, type: "number", value });
const ACTIONS = {
  error: { text: "answer with an error", label: "Error", type: "text", value: "NOT_LEADER_OR_FOLLOWER" },
  delay_ms: { text: "delay the response", ...NUMBER("Milliseconds", 1000) },
  pause: { text: "hold the response until released" },
  "disconnect:before": { text: "disconnect before the request is handled" },
  "disconnect:after": { text: "disconnect instead of answering" },
  black_hole: { text: "never answer" },
  throttle_time_ms: { text: "report a throttle time", ...NUMBER("Milliseconds", 1000) },
  truncate: { text: "truncate the response", ...NUMBER("Bytes to keep", 10) },
  corrupt: { text: "corrupt the response" },
  deny: { text: "deny every access" },
};
const TRIGGERS = {
  times: { text: "the first requests", ...NUMBER("Number of requests", 1) },
  on_call: { text: "only one request", ...NUMBER("Which one, from 1", 1) },
  every_time: { text: "every request" },
  with_probability: { text: "random requests", label: "Probability, 0 to 1", type: "number", value: 0.5, step: "any" },
};
const APIS = ["Produce", "Fetch", "Metadata", "ListOffsets", "FindCoordinator", "JoinGroup", "SyncGroup",
  "Heartbeat", "OffsetCommit", "OffsetFetch", "ConsumerGroupHeartbeat", "InitProducerId", "AddPartitionsToTxn",
  "EndTxn", "CreateTopics", "DescribeConfigs", "SaslAuthenticate", "ApiVersions"];
const ERRORS = ["NOT_LEADER_OR_FOLLOWER", "REQUEST_TIMED_OUT", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR",
  "UNKNOWN_TOPIC_OR_PARTITION", "NOT_ENOUGH_REPLICAS", "TOPIC_AUTHORIZATION_FAILED", "REBALANCE_IN_PROGRESS",
  "UNKNOWN_MEMBER_ID", "OFFSET_OUT_OF_RANGE", "KAFKA_STORAGE_ERROR", "UNKNOWN_SERVER_ERROR"];

export const faults = {
  title: "Faults",
  columns: ["Id", "Action", "Matches", "Trigger", "Matched", "Fired", ""],
  load: ({ ask }) => ask("GET", "faults"),
  rows: (data) => data.faults,
  cells: (row) => [
    { text: row.id, class: "number" },
    { text: JSON.stringify(row.action), class: "wide" },
    { text: JSON.stringify(row.match) },
    { text: JSON.stringify(row.trigger) },
    { text: row.calls },
    { text: row.fired },
    { node: buttons(row) },
  ],
  tools(page) {
    faults.act = page.act;
    return [setting(page)];
  },
  empty: "No faults are set.",
};

function buttons(row) {
  const lift = button("Remove", () => faults.act("DELETE", `faults/${row.id}`));
  if (!row.action.pause) return element("span", {}, lift);
  const release = button("Release", () => faults.act("POST", `faults/${row.id}/release`));
  return element("span", {}, release, " ", lift);
}

const options = (kinds) => Object.entries(kinds).map(([value, { text }]) => [value, text]);
const list = (id, values) => element("datalist", { id }, ...values.map((value) => element("option", { value })));

function setting(page) {
  const text = element("textarea", { id: "fault", rows: "9", spellcheck: "false" });
  const what = choice("action", "Effect", ACTIONS);
  const when = choice("trigger", "Applies to", TRIGGERS);
  const match = {
    api: input("api", { list: "apis", value: "Produce", placeholder: "any" }),
    topic: input("topic", { placeholder: "any" }),
    group: input("group", { placeholder: "any" }),
    principal: input("principal", { placeholder: "any" }),
    client_id: input("client_id", { placeholder: "any" }),
  };
  const made = element("form", { id: "new-fault" },
    element("fieldset", {}, element("legend", { text: "New fault" }),
      element("div", { class: "inline" }, ...what.nodes, ...when.nodes),
      element("div", { class: "inline" }, field("API", match.api), field("Topic", match.topic),
        field("Group", match.group), field("Principal", match.principal), field("Client id", match.client_id)),
      list("apis", APIS), list("errors", ERRORS)),
    element("div", { class: "field" }, element("label", { for: "fault", text: "As JSON; this text is sent and can be edited" }),
      text, element("button", { type: "submit", text: "Set the fault" })));
  function write() {
    const given = Object.entries(match).filter(([, control]) => control.value.trim());
    const fault = { action: action(what.value()) };
    if (given.length) fault.match = Object.fromEntries(given.map(([name, { value }]) => [name, value.trim()]));
    fault.trigger = Object.fromEntries([when.value()]);
    text.value = JSON.stringify(fault, null, 2);
  }
  made.addEventListener("input", (event) => event.target !== text && write());
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    try {
      const fault = JSON.parse(text.value);
      page.clearFilter(); // it could hide the new row
      page.act("POST", "faults", fault);
    } catch (error) {
      page.note(`not JSON: ${error.message}`, true);
    }
  });
  write();
  return made;
}

/** Return a choice, and a field for the value of the chosen option, if it has one. */
function choice(name, label, kinds) {
  const chosen = select(name, options(kinds));
  const control = input(`${name}-value`, {});
  const caption = element("label", { text: "" });
  const value = field("Value", control);
  value.querySelector("label").replaceWith(caption);
  caption.htmlFor = control.id;
  function adapt() {
    const kind = kinds[chosen.value];
    value.hidden = !kind.label;
    caption.textContent = kind.label ?? "Value";
    control.type = kind.type ?? "text";
    control.step = kind.step ?? "1";
    if (kind.label === "Error") control.setAttribute("list", "errors");
    else control.removeAttribute("list");
    control.value = kind.value ?? "";
  }
  chosen.addEventListener("input", adapt);
  adapt();
  return {
    nodes: [field(label, chosen), value],
    value() {
      const kind = kinds[chosen.value];
      if (!kind.label) return [chosen.value, true];
      return [chosen.value, kind.type === "number" ? Number(control.value) : control.value];
    },
  };
}

function action([name, value]) {
  if (name === "deny") return { deny: {} };
  const [kind, moment] = name.split(":");
  return { [kind]: moment ?? value };
}
