// Groups of all four kinds: members, committed offsets, lag; a form to reset offsets.

import { button, element, field, form, input, section, select, table, timeOf } from "./elements.js";
import { syncPart } from "./rows.js";

const path = (id) => `groups/${encodeURIComponent(id)}`;

export const groups = {
  title: "Groups",
  extra: ["Type", "Members"],
  columns: ["Group", "Type", "State", "Members", "Lag"],
  load: ({ call }) => call("GET", "groups"),
  rows: (data) => data.groups,
  key: (row) => row.group_id,
  cells: (row) => [
    { text: row.group_id },
    { text: row.type },
    { text: row.state },
    { text: row.members.length },
    { text: row.offsets.length ? row.lag : "" },
  ],
  detail,
  isWide: true,
  empty: "There are no groups yet. A group is created by its first member or its first committed offset.",
};

function detail(row, page) {
  const facts = element("div");
  function update() {
    const now = page.data("groups")?.groups.find((one) => one.group_id === row.group_id) ?? null;
    syncPart(facts, now, () => element("div", {}, ...(now ? described(now) : [element("p", { text: "deleted" })])));
  }
  update();
  return { update, nodes: [element("h2", { text: row.group_id }), facts, ...changes(row, page)] };
}

const assigned = (member) =>
  member.assignment.map(({ topic, partitions }) => `${topic} ${partitions.join(", ")}`).join("; ");

function described(row) {
  const nodes = [element("p", { text: `${row.type} group, ${row.state}, lag ${row.lag}` })];
  nodes.push(section("Members", row.members.length
    ? table("Members", ["Client", "Host", "Epoch", "Assigned", "Member id"], row.members.map((member) => [
      member.client_id, member.client_host, member.epoch, assigned(member) || "none",
      member.instance_id ? `${member.member_id} (${member.instance_id})` : member.member_id]))
    : element("p", { text: "None." })));
  nodes.push(section("Offsets", row.offsets.length
    ? table("Offsets", ["Topic", "Partition", "Offset", "End", "Lag"], row.offsets.map((one) => [
      one.topic, one.partition, one.offset, one.end_offset, one.lag]))
    : element("p", { text: "None committed." })));
  return nodes;
}

const TARGETS = {
  earliest: { text: "the earliest offset" }, latest: { text: "the latest offset" },
  to: { text: "this offset", label: "Offset", attributes: { type: "number", min: "0", value: "0" } },
  shift: { text: "the present offset plus", label: "Records, or -records", attributes: { type: "number", value: "-1" } },
  time_ms: { text: "the first record from a time on", label: "Time (UTC)", attributes: { type: "datetime-local", step: "1" } },
};

/** Return the body of the call that resets offsets. */
function newOffsets({ kind, target, topic, partition }) {
  const value = kind === "time_ms" ? timeOf(target) : Number(target);
  return {
    ...(TARGETS[kind].label ? { [kind]: value } : { to: kind }),
    topic: topic || null, partition: partition === "" ? null : Number(partition),
  };
}

function changes(row, page) {
  const kind = select("kind", Object.entries(TARGETS).map(([value, { text }]) => [value, text]));
  const where = element("div");
  const preview = element("div", { id: "offset-changes" });
  const call = `${path(row.group_id)}/offsets`;
  kind.addEventListener("change", () => {
    const { label, attributes } = TARGETS[kind.value];
    where.replaceChildren(...(label ? [field(label, input("target", { required: true, ...attributes }))] : []));
  });
  const reset = form("reset", "Reset offsets", [
    field("Topic", input("topic", { placeholder: "all" })),
    field("Partition", input("partition", { type: "number", min: "0", placeholder: "all" })),
    field("To", kind), where,
  ], "Show the changes", async (given) => {
    const body = newOffsets(given);
    const planned = await page.act("", ["POST", call, { ...body, dry_run: true }]);
    if (!planned) return;
    const rows = planned.changes;
    preview.replaceChildren(table("Changes", ["Topic", "Partition", "Now", "Then", "Records"], rows.map((one) => [
      one.topic, one.partition, one.before ?? "none", one.after, one.before === null ? "" : one.after - one.before])),
    element("p", { class: "buttons" }, button("Reset these offsets", async () => {
      if (await page.act("Offsets reset", ["POST", call, body])) preview.replaceChildren();
    }, { id: "reset-now" })));
  });
  return [section("Reset offsets (of a group without members)", reset, preview), button("Delete the group", () => page.remove(`group ${row.group_id}`, path(row.group_id)))];
}
