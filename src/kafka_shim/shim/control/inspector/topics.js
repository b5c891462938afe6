// Topics: partitions, offsets, settings, records, and a form to produce one.

import { button, element, field, form, hexdump, input, instant, json, section, select, table, timeOf } from "./elements.js";
import { syncPart } from "./rows.js";

const total = (numbers) => numbers.reduce((sum, one) => sum + one, 0);
const records = (row) => total(row.end_offsets) - total(row.start_offsets);
const path = (name) => `topics/${encodeURIComponent(name)}`;

export const topics = {
  title: "Topics",
  extra: ["Leaders", "Settings"],
  columns: ["Name", "Partitions", "Records", "Leaders", "Settings"],
  load: ({ call }) => call("GET", "topics"),
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
    field("Partitions", input("partitions", { type: "number", min: "1", value: "1", required: true })),
  ], "Create", async ({ name, partitions }, made) => {
    page.clearFilter();
    if (await page.act(`Topic ${name} created`, ["POST", "topics", { name, partitions: Number(partitions) }])) made.reset();
  })],
  detail,
  isWide: true,
  empty: "There are no topics yet.",
};

const VALUE_BYTES_MAX = 8192; // of each value, until all of it is requested

function detail(row, page) {
  const facts = element("div");
  const shown = element("div", { id: "records" });
  const partition = select("partition", row.leaders.map((_, index) => [index, `partition ${index}`]));
  partition.value = row.end_offsets.indexOf(Math.max(...row.end_offsets)); // where there are most
  const format = select("format", [["text", "as text"], ["json", "as JSON"], ["hex", "as hex"]], { id: "format" });
  const from = input("from", { type: "number", min: "0", placeholder: "newest", id: "from" });
  const since = input("since", { type: "datetime-local", step: "1", id: "since" });
  const contains = input("contains", { type: "search", placeholder: "any text", id: "contains" });
  let loaded = ""; // the offsets of the partition when its records were loaded

  async function update() {
    const now = page.data("topics")?.topics.find((one) => one.name === row.name) ?? null;
    syncPart(facts, now, () => (now ? partitions(now) : element("p", { text: "deleted" })));
    const at = Number(partition.value);
    const offsets = now && `${now.start_offsets[at]} ${now.end_offsets[at]}`;
    if (now && offsets !== loaded) await load(from.value === "" ? {} : { from: from.value });
  }

  /** Load a page of records, and draw it. */
  async function load(start) {
    const query = { partition: partition.value, value_bytes_max: VALUE_BYTES_MAX, ...start };
    if (since.value && !("from" in start)) query.from_ms = timeOf(since.value);
    if (contains.value) query.contains = contains.value;
    const result = await page.call("GET", `${path(row.name)}/records?${new URLSearchParams(query)}`)
      .catch((error) => ({ records: [], error: error.message }));
    loaded = `${result.start_offset} ${result.end_offset}`;
    drawRecords(result);
  }

  function drawRecords({ records: rows, error, next_offset: next, end_offset: end }) {
    const whole = (one) => page.call("GET", `${path(row.name)}/records?partition=${partition.value}&from=${one.offset}&limit=1`)
      .then((response) => response.records[0]);
    shown.replaceChildren(...(error ? [element("p", { class: "bad", text: error })] : []),
      ...rows.toReversed().map((one) => record(one, format.value, whole)),
      ...(rows.length || error ? [] : [element("p", { text: "No such records." })]),
      ...(next < end ? [element("p", { class: "buttons" }, button(`Next page, from offset ${next}`, () => load({ from: next }), { id: "next" }))] : []));
  }

  const reload = () => load(from.value === "" ? {} : { from: from.value });
  for (const control of [partition, format, from, since, contains]) control.addEventListener("change", reload);
  update();
  return {
    update,
    nodes: [
      element("h2", { text: row.name }),
      element("p", { class: "number", text: `id ${row.topic_id}` }),
      section("Produce a record", producing(row, page)),
      section("Records", element("search", { class: "inline" }, field("Partition", partition), field("Show values", format),
        field("From offset", from), field("From time (UTC)", since), field("Containing", contains)), shown),
      section("Partitions", facts),
      section("Settings", settings(row.configs)),
      button("Delete the topic", () => page.remove(`topic ${row.name}`, path(row.name))),
    ],
  };
}

const partitions = (row) => table("Partitions", ["Partition", "Leader", "First offset", "Next offset"],
  row.leaders.map((leader, index) => [index, leader < 0 ? "none" : leader, row.start_offsets[index],
    row.end_offsets[index]]));

function settings(configs) {
  const found = Object.entries(configs);
  return found.length ? table("Settings", ["Name", "Value"], found)
    : element("p", { text: "No topic-level overrides." });
}

const KINDS = [["text", "text"], ["hex", "bytes, as hex"], ["null", "null"]];

function producing(row, page) {
  const places = [["key", "by key"], ...row.leaders.map((_, index) => [index, `partition ${index}`])];
  return form("produce", "Produce a record", [
    field("Key", input("key", { placeholder: "none" })),
    field("Value", element("textarea", { name: "value", rows: "2", spellcheck: "false" })),
    field("Value is", select("kind", KINDS)),
    field("Headers", input("headers", { placeholder: "name=value, …" })),
    field("Into", select("place", places.slice(row.leaders.length > 1 ? 0 : 1))),
  ], "Produce", async ({ key, value, kind, headers, place }, made) => {
    const pairs = headers.split(",").map((one) => one.trim()).filter(Boolean);
    const body = {
      ...{ text: { value }, hex: { value_hex: value }, null: { value: null } }[kind],
      key: key || null, partition: place === "key" ? (key ? null : 0) : Number(place),
      headers: Object.fromEntries(pairs.map((one) => {
        const at = one.indexOf("=");
        return at < 0 ? [one, ""] : [one.slice(0, at).trim(), one.slice(at + 1).trim()];
      })),
    };
    const done = ({ offset, partition }) => `Record ${offset} produced into partition ${partition}`;
    if (await page.act(done, ["POST", `${path(row.name)}/records`, body])) made.reset();
  });
}

function record(one, format, whole) {
  const head = [`#${one.offset}`, instant(one.timestamp_ms)];
  if (one.compression !== "none") head.push(one.compression);
  if (one.producer_id >= 0) head.push(`producer ${one.producer_id}`);
  if (one.is_transactional) head.push("transactional");
  if (one.control) head.push(one.control);
  const made = element("article", {}, element("p", { class: "number", text: head.join(" · ") }));
  if (one.control) return made;
  const headers = one.headers.map(({ key, value, value_hex: hex }) => element("li", {
    text: `${key}: ${value ?? (hex === null ? "null" : `0x${hex}`)}`,
  }));
  if (one.key_hex !== null) made.append(element("p", { class: "mono", text: `key ${one.key ?? `0x${one.key_hex}`}` }));
  if (headers.length) made.append(element("ul", { "aria-label": "Headers" }, ...headers));
  const value = element("div", {}, ...content(one, format));
  made.append(value);
  if (one.value_hex !== null && one.value_hex.length / 2 < one.value_bytes) {
    made.append(element("p", { class: "buttons" }, `${one.value_hex.length / 2} of ${one.value_bytes} bytes `,
      button("Show all", async () => value.replaceChildren(...content(await whole(one), format))),
      button("Download", async () => download(await whole(one)))));
  }
  return made;
}

const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));

function download(one) {
  const href = URL.createObjectURL(new Blob([bytesOf(one.value_hex)]));
  element("a", { href, download: `record-${one.offset}.bin` }).click();
}

/** Show a value: null, empty, in the framing of a schema registry, JSON, text or bytes. */
function content({ value, value_hex: hex, value_bytes: size }, format) {
  if (hex === null) return [element("p", { class: "none", text: "null (a tombstone)" })];
  if (size === 0) return [element("p", { class: "none", text: "empty" })];
  const schema = size > 5 && hex.startsWith("00") ? parseInt(hex.slice(2, 10), 16) : 0;
  const framing = schema ? [element("p", { class: "number", text: `framed for a schema registry: schema id ${schema}` })] : [];
  if (format === "json" && value !== null) {
    try {
      return [json(JSON.parse(value))];
    } catch {
      // not JSON: as text
    }
  }
  const isText = format !== "hex" && value !== null && !schema;
  return [...framing, isText ? element("pre", { text: value }) : hexdump(hex)];
}
