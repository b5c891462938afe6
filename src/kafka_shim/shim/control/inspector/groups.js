// Groups of all four kinds: members, committed offsets, lag; a form to reset offsets.

import { button, element, field, form, input, section, select, table } from "./elements.js";

const path = (id) => `groups/${encodeURIComponent(id)}`;

export const groups = {
  title: "Groups",
  columns: ["Group", "Type", "State", "Members", "Lag"],
  load: ({ ask }) => ask("GET", "groups"),
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
  let drawn = "";
  function update() {
    const now = page.data("groups")?.groups.find((one) => one.group_id === row.group_id);
    const text = JSON.stringify(now ?? null);
    if (drawn === text) return;
    drawn = text;
    facts.replaceChildren(...(now ? described(now) : [element("p", { text: "deleted" })]));
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

function changes(row, page) {
  const to = select("to", [["earliest", "the earliest offset"], ["latest", "the latest offset"],
    ["offset", "this offset"]]);
  const offset = input("offset", { type: "number", min: "0", value: "0" });
  const where = field("Offset", offset);
  where.hidden = true;
  to.addEventListener("change", () => { where.hidden = to.value !== "offset"; });
  const reset = form("reset", "Reset offsets", [
    field("Topic", input("topic", { placeholder: "all" })),
    field("Partition", input("partition", { type: "number", min: "0", placeholder: "all" })),
    field("To", to), where,
  ], "Reset", (given) => page.act("POST", `${path(row.group_id)}/offsets`, {
    to: given.to === "offset" ? Number(given.offset) : given.to,
    topic: given.topic || null,
    partition: given.partition === "" ? null : Number(given.partition),
  }));
  const remove = button("Delete the group", async () => {
    if (confirm(`Delete ${row.group_id}?`) && await page.act("DELETE", path(row.group_id))) page.close();
  });
  return [section("Reset offsets (of a group without members)", reset),
    element("p", { class: "buttons" }, remove)];
}
