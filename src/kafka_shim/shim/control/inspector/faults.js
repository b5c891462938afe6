// Faults: a form with the JSON that it makes, which can be edited.

import { tabLink } from "./address.js";
import { badge, button, element, field, input, json, section, select } from "./elements.js";

const number = (label, value) => ({ label, type: "number", value });
const ACTIONS = {
  error: { text: "respond with an error", label: "Error", type: "text", value: "NOT_LEADER_OR_FOLLOWER" },
  delay_ms: { text: "delay the response", ...number("Milliseconds", 1000) },
  pause: { text: "hold the response until released" },
  "disconnect:before": { text: "disconnect before the request is handled" },
  "disconnect:after": { text: "disconnect instead of responding" },
  black_hole: { text: "never respond" },
  throttle_time_ms: { text: "report a throttle time", ...number("Milliseconds", 1000) },
  truncate: { text: "truncate the response", ...number("Bytes to keep", 10) },
  corrupt: { text: "corrupt the response" },
  deny: { text: "deny every access" },
};
const TRIGGERS = {
  times: { text: "the first requests", ...number("Number of requests", 1) },
  on_call: { text: "only one request", ...number("Which one, from 1", 1) },
  every_time: { text: "every request" },
  with_probability: { text: "random requests", label: "Probability, 0 to 1", type: "number", value: 0.5, step: "any" },
};
const APIS = ("Produce Fetch Metadata ListOffsets FindCoordinator JoinGroup SyncGroup Heartbeat OffsetCommit OffsetFetch ConsumerGroupHeartbeat "
  + "InitProducerId AddPartitionsToTxn EndTxn CreateTopics DescribeConfigs SaslAuthenticate ApiVersions").split(" ");
const ERRORS = ("NOT_LEADER_OR_FOLLOWER REQUEST_TIMED_OUT COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR UNKNOWN_TOPIC_OR_PARTITION NOT_ENOUGH_REPLICAS "
  + "TOPIC_AUTHORIZATION_FAILED REBALANCE_IN_PROGRESS UNKNOWN_MEMBER_ID OFFSET_OUT_OF_RANGE KAFKA_STORAGE_ERROR UNKNOWN_SERVER_ERROR").split(" ");
const CONDITIONS = {
  api: ["API", "text"], version: ["Version", "number"], client_id: ["Client id", "text"], principal: ["Principal", "text"],
  topic: ["Topic", "text"], partition: ["Partition", "number"], group: ["Group", "text"],
  transactional_id: ["Transactional id", "text"], node_id: ["Broker", "number"],
};

const words = (name) => name.replaceAll("_", " ");
const pairs = (fields) => Object.entries(fields).map(([name, value]) =>
  (value === true ? words(name) : `${words(name)} ${typeof value === "object" ? JSON.stringify(value) : value}`)).join(", ");

/** `error NOT_LEADER_OR_FOLLOWER`, `pause, delay ms 50`. */
export const actionText = (action) => pairs(action);

/** Return whether the trigger cannot fire again. */
function isSpent({ calls, trigger }) {
  if (trigger.every_time || trigger.with_probability !== undefined) return false;
  return calls >= (trigger.on_call ?? trigger.times ?? 1);
}

const definition = ({ action, match, trigger }) => ({ action, match, trigger });
let editor = null;

export const faults = {
  title: "Faults",
  columns: ["Id", "Effect", "Requests", "When", "State", "Matched", "Fired", ""],
  extra: ["Requests", "When", "Matched"],
  load: ({ call }) => call("GET", "faults"),
  rows: (data) => data.faults,
  key: (row) => String(row.id),
  cells: (row) => [
    { text: row.id, class: "number" },
    { text: actionText(row.action) },
    { text: pairs(row.match) || "all" },
    { text: pairs(row.trigger) || "once" },
    row.is_disabled ? { text: "off", class: "none" } : isSpent(row) ? { text: "spent", class: "none" } : { node: badge(true, "active") },
    { text: row.calls },
    { text: row.fired },
    { node: buttons(row) },
  ],
  tools(page) {
    faults.page = page;
    editor = createEditor(page);
    return [editor.form];
  },
  detail: (row) => ({
    nodes: [element("h2", { text: `Fault ${row.id}` }), section("Definition", json(definition(row))),
      element("p", {}, element("a", { href: tabLink("requests", { filter: `fault:${row.id}`, each: "1" }), text: "Requests to which it was applied" }))],
  }),
  empty: "No faults are set.",
};

function buttons(row) {
  const { act } = faults.page;
  const path = `faults/${row.id}`;
  const made = [button("Edit", () => editor.edit(row, true)), button("Duplicate", () => editor.edit(row, false)),
    row.is_disabled ? button("On", () => act(`Fault ${row.id} is on`, ["POST", `${path}/enable`]))
      : button("Off", () => act(`Fault ${row.id} is off`, ["POST", `${path}/disable`])),
    button("Remove", () => act(`Fault ${row.id} removed`, ["DELETE", path]))];
  if (row.action.pause) made.unshift(button("Release", () => act("Responses released", ["POST", `${path}/release`])));
  return element("span", { class: "buttons" }, ...made);
}

const list = (id, values) => element("datalist", { id }, ...values.map((value) => element("option", { value })));

/** Return the form, and a function that fills it with a fault, to replace or to copy it. */
function createEditor(page) {
  const text = element("textarea", { id: "fault", rows: "7", spellcheck: "false" });
  const effect = choice("action", "Effect", ACTIONS);
  const trigger = choice("trigger", "Applies to", TRIGGERS);
  const match = Object.fromEntries(Object.entries(CONDITIONS).map(([name, [, type]]) =>
    [name, input(name, { type, placeholder: "any", ...(name === "api" ? { list: "apis" } : {}) })]));
  const legend = element("legend", { text: "New fault" });
  const submit = element("button", { type: "submit", text: "Add fault" });
  const form = element("form", { id: "new-fault" },
    element("fieldset", {}, legend,
      element("div", { class: "inline" }, effect.node, trigger.node),
      element("div", { class: "inline" }, ...Object.entries(match).map(([name, control]) => field(CONDITIONS[name][0], control))),
      list("apis", APIS), list("errors", ERRORS)),
    element("div", { class: "field" }, element("label", { for: "fault", text: "As JSON; this text is sent and can be edited" }), text, submit));
  let replaced = null;

  function label(row) {
    replaced = row;
    legend.textContent = row ? `Edit fault ${row.id}` : "New fault";
    submit.textContent = row ? "Replace the fault" : "Add fault";
  }
  /** Write what a control says into the text, which keeps everything else. */
  function writePart({ target }) {
    if (target === text) return;
    const { action = {}, match: conditions = {}, trigger: when = {}, ...rest } = objectOf(text.value);
    const fault = { action, match: conditions, trigger: when, ...rest };
    if (effect.node.contains(target)) fault.action = actionOf(effect.value());
    else if (trigger.node.contains(target)) fault.trigger = Object.fromEntries([trigger.value()]);
    else if (target.value.trim()) fault.match[target.name] = target.type === "number" ? Number(target.value) : target.value.trim();
    else delete fault.match[target.name];
    text.value = JSON.stringify(fault, null, 2);
  }
  function show(fault) {
    for (const [name, control] of Object.entries(match)) control.value = fault.match[name] ?? "";
    effect.choose(fault.action);
    trigger.choose(fault.trigger);
    text.value = JSON.stringify(fault, null, 2);
  }
  function edit(row, replaces) {
    label(replaces ? row : null);
    show(definition(row));
    text.focus();
  }
  for (const event of ["input", "change"]) form.addEventListener(event, writePart); // of a select, some send one only
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    let fault;
    try {
      fault = JSON.parse(text.value);
    } catch (error) {
      return page.note(`not JSON: ${error.message}`, true);
    }
    page.clearFilter(); // it could hide the new row
    const calls = [["POST", "faults", fault], ...(replaced ? [["DELETE", `faults/${replaced.id}`]] : [])];
    if (await page.act(replaced ? `Fault ${replaced.id} replaced` : "Fault added", ...calls)) label(null);
    return null;
  });
  show({ action: actionOf(effect.value()), match: { api: "Produce" }, trigger: Object.fromEntries([trigger.value()]) });
  return { form, edit };
}

/** Return the object that a text of JSON is; an empty one if it is none. */
function objectOf(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Return a choice, and a field for the value of the chosen option, if it has one. */
function choice(name, label, kinds) {
  const chosen = select(name, Object.entries(kinds).map(([value, { text }]) => [value, text]));
  const control = input(`${name}-value`);
  const value = field("Value", control);
  function adapt() {
    const kind = kinds[chosen.value] ?? {};
    value.hidden = !kind.label;
    value.querySelector("label").textContent = kind.label ?? "Value";
    control.type = kind.type ?? "text";
    control.step = kind.step ?? "1";
    control.required = Boolean(kind.label);
    if (kind.label === "Error") control.setAttribute("list", "errors");
    else control.removeAttribute("list");
    control.value = kind.value ?? "";
  }
  chosen.addEventListener("change", adapt);
  adapt();
  return {
    node: element("div", { class: "inline" }, field(label, chosen), value),
    /** Choose what an object says; nothing if it says more, or what is not offered. */
    choose(given) {
      const [[key, content] = [], ...further] = Object.entries(given);
      const exact = `${key}:${content}` in kinds ? `${key}:${content}` : key;
      const isSimple = !further.length && exact in kinds && (typeof content !== "object" || !kinds[exact].label);
      chosen.value = isSimple ? exact : "";
      adapt();
      if (kinds[chosen.value]?.label) control.value = content;
    },
    value() {
      const kind = kinds[chosen.value];
      if (!kind.label) return [chosen.value, true];
      return [chosen.value, kind.type === "number" ? Number(control.value) : control.value];
    },
  };
}

function actionOf([name, value]) {
  if (name === "deny") return { deny: {} };
  const [kind, moment] = name.split(":");
  return { [kind]: moment ?? value };
}
