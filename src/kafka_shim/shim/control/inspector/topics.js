// Topics: partitions, offsets, settings, records, and a form to produce one.

import { button, element, field, form, hexdump, input, instant, json, section, select, table } from "./elements.js";

const total = (numbers) => numbers.reduce((sum, one) => sum + one, 0);
const records = (row) => total(row.end_offsets) - total(row.start_offsets);
const path = (name) => `topics/${encodeURIComponent(name)}`;

export const topics = {
  title: "Topics",
  columns: ["Name", "Partitions", "Records", "Leaders", "Settings"],
  load: ({ ask }) => ask("GET", "topics"),
  rows: (data) => data.topics,
  key: (row) => row.name,
  cells: (row) => [
    { text: row.name },
    { text: row.partitions },
    { text: records(row), title: "offsets between the first and the next one" },
    { text: [...new Set(row.leaders)].map((id) => (id < 0 ? "none" : id)).join(", ") },
    { text: Object.entries(row.configs).map((pair) => pair.join("=")).join(", "), class: "long" },
  ],
  tools: (page) => [form("new-topic", "Create a topic", [
    field("Topic", input("name", { required: true })),
    field("Partitions", input("partitions", { type: "number", min: "1", value: "1" })),
  ], "Create", async ({ name, partitions }, made) => {
    page.clearFilter();
    if (await page.act("POST", "topics", { name, partitions: Number(partitions) })) made.reset();
  })],
  detail,
  isWide: true,
  empty: "There are no topics yet.",
};

function detail(row, page) {
  const drawn = {};
  const facts = element("div");
  const shown = element("div", { id: "records" });
  const partition = select("partition", row.leaders.map((_, index) => [index, `partition ${index}`]));
  partition.value = row.end_offsets.indexOf(Math.max(...row.end_offsets)); // where there are most
  const format = select("format", [["text", "as text"], ["json", "as JSON"], ["hex", "as hex"]], { id: "format" });
  const from = input("from", { type: "number", min: "0", placeholder: "newest", id: "from" });

  async function update() {
    const now = page.data("topics")?.topics.find((one) => one.name === row.name);
    redraw("facts", facts, now, () => (now ? [partitions(now)] : [element("p", { text: "deleted" })]));
    if (!now) return;
    const start = from.value === "" ? "" : `&from=${from.value}`;
    const found = await page.ask("GET", `${path(row.name)}/records?partition=${partition.value}${start}`)
      .catch((error) => ({ records: [], error: error.message }));
    redraw("records", shown, [found, format.value], () => [
      ...(found.error ? [element("p", { class: "bad", text: found.error })] : []),
      ...found.records.slice().reverse().map((one) => record(one, format.value)),
      ...(found.records.length || found.error ? [] : [element("p", { text: "No records from this offset on." })]),
    ]);
  }

  function redraw(name, node, data, draw) {
    const text = JSON.stringify(data);
    if (drawn[name] === text) return;
    drawn[name] = text;
    node.replaceChildren(...draw());
  }

  for (const control of [partition, format, from]) control.addEventListener("change", update);
  const remove = button("Delete the topic", async () => {
    if (confirm(`Delete ${row.name}?`) && await page.act("DELETE", path(row.name))) page.close();
  });
  update();
  return {
    update,
    nodes: [
      element("h2", { text: row.name }),
      element("p", { class: "number", text: `id ${row.topic_id}` }),
      section("Produce a record", producing(row, page, update, partition)),
      section("Records", element("div", { class: "inline" }, field("Partition", partition), field("Show values", format),
        field("From offset", from)), shown),
      section("Partitions", facts),
      section("Settings", settings(row.configs)),
      element("p", { class: "buttons" }, remove),
    ],
  };
}

const partitions = (row) => table("Partitions", ["Partition", "Leader", "First offset", "Next offset"],
  row.leaders.map((leader, index) => [index, leader < 0 ? "none" : leader, row.start_offsets[index],
    row.end_offsets[index]]));

function settings(configs) {
  const found = Object.entries(configs);
  return found.length ? table("Settings", ["Name", "Value"], found)
    : element("p", { text: "The topic has no own settings; the broker's apply." });
}

function producing(row, page, update, partition) {
  return form("produce", "Produce a record", [
    field("Key", input("key", { placeholder: "none" })),
    field("Value", element("textarea", { name: "value", rows: "2", spellcheck: "false" })),
    field("Headers", input("headers", { placeholder: "name=value, …" })),
  ], "Produce", async ({ key, value, headers }, made) => {
    const pairs = headers.split(",").map((one) => one.trim()).filter(Boolean);
    const body = {
      value, key: key || null, partition: Number(partition.value),
      headers: Object.fromEntries(pairs.map((one) => {
        const at = one.indexOf("=");
        return at < 0 ? [one, ""] : [one.slice(0, at).trim(), one.slice(at + 1).trim()];
      })),
    };
    if (await page.act("POST", `${path(row.name)}/records`, body)) {
      made.reset();
      await update();
    }
  });
}

function record(one, format) {
  const head = [`#${one.offset}`, instant(one.timestamp_ms)];
  if (one.compression !== "none") head.push(one.compression);
  if (one.producer_id >= 0) head.push(`producer ${one.producer_id}`);
  if (one.is_transactional) head.push("transactional");
  if (one.control) {
    return element("article", {}, element("p", { class: "number", text: `${head.join(" · ")} · ${one.control}` }));
  }
  const headers = one.headers.map(({ key, value, value_hex: hex }) => element("li", {
    text: `${key}: ${value ?? (hex === null ? "null" : `0x${hex}`)}`,
  }));
  return element("article", {},
    element("p", { class: "number", text: head.join(" · ") }),
    ...(one.key_hex === null ? [] : [element("p", { class: "mono", text: `key ${one.key ?? `0x${one.key_hex}`}` })]),
    ...(headers.length ? [element("ul", { "aria-label": "Headers" }, ...headers)] : []),
    content(one, format));
}

function content({ value, value_hex: hex }, format) {
  if (hex === null) return element("p", { class: "none", text: "null" });
  if (format === "json" && value !== null) {
    try {
      return json(JSON.parse(value));
    } catch {
      // not JSON: as text
    }
  }
  return format === "hex" || value === null ? hexdump(hex) : element("pre", { text: value });
}
