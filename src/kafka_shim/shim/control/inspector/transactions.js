// Transactional ids, and the producers that partitions know.

import { badge, element, instant, section, table } from "./elements.js";

export const transactions = {
  title: "Transactions",
  extra: ["Producer", "Epoch", "Timeout", "Began"],
  columns: ["Transactional id", "State", "Producer", "Epoch", "Timeout", "Began", "Partitions"],
  load: ({ call }) => call("GET", "transactions"),
  rows: (data) => [...data.transactions, ...plain(data)],
  key: (row) => row.transactional_id ?? `producer ${row.producer_id}`,
  cells: (row) => [
    { text: row.transactional_id ?? "none" , class: row.transactional_id === null ? "none" : "" },
    state(row),
    { text: row.producer_id },
    { text: row.producer_epoch },
    { text: row.timeout_ms === null ? "" : `${row.timeout_ms} ms` },
    { text: row.started_ms >= 0 ? instant(row.started_ms) : "" },
    { text: row.partitions.map(({ topic, partition }) => `${topic}-${partition}`).join(", "), class: "wide" },
  ],
  detail: (row, page) => ({
    nodes: [
      element("h2", { text: row.transactional_id ?? `Producer ${row.producer_id}` }),
      section("On partitions", table("Producers",
        ["Partition", "Epoch", "Last sequence", "Last record", "Open since offset"],
        page.data("transactions").producers
          .filter((one) => one.producer_id === row.producer_id)
          .map((one) => [`${one.topic}-${one.partition}`, one.producer_epoch,
            one.last_sequence < 0 ? "none" : one.last_sequence, instant(one.last_timestamp_ms),
            one.transaction_offset < 0 ? "not open" : one.transaction_offset]))),
    ],
  }),
  isWide: true,
  empty: "No transactional ids and no idempotent producers yet.",
};

/** Producers without a transactional id, one row each. */
function plain({ transactions: rows, producers }) {
  const known = new Set(rows.map((row) => row.producer_id));
  return [...Map.groupBy(producers.filter((one) => !known.has(one.producer_id)), (one) => one.producer_id).values()].map((partitions) => ({
    ...partitions[0], transactional_id: null, state: "idempotent", timeout_ms: null, started_ms: -1, partitions,
  }));
}

function state(row) {
  if (row.state === "CompleteCommit") return { node: badge(true, "committed") };
  if (row.state === "CompleteAbort") return { node: badge(false, "aborted") };
  return { text: row.state };
}
