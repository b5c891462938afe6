// Permissions and trouble, as tests: each has a broker as new, and no container.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import * as broker from "./broker.js";
import { NotAllowedError, Publisher, TOPIC } from "./publisher.js";

const MAY_WRITE = { principal: "User:shop", allow: ["Write"], topic: TOPIC };

let publisher;

beforeEach(async () => {
  await broker.post("/reset");
  publisher = new Publisher(broker.settings("shop"));
  await publisher.connect();
});

afterEach(() => publisher.close());

const allow = () => broker.post("/acls", { acls: [MAY_WRITE] });

/** How many orders the broker has. */
async function stored() {
  const { topics } = await broker.get("/topics");
  return topics[0].end_offsets[0];
}

test("an order is published", async () => {
  await allow();
  await publisher.publish("order-1");
  assert.equal(await stored(), 1);
});

test("without permission the publisher says so", async () => {
  await assert.rejects(publisher.publish("order-1"), NotAllowedError);
  const { decisions } = await broker.get("/decisions?allowed=false&logged=true");
  assert.equal(decisions[0].principal, "User:shop");
  assert.equal(await stored(), 0);
});

test("a grant that is lost in mid-stream loses no order", async () => {
  await allow();
  await broker.post("/faults", {
    action: { revoke: [MAY_WRITE] },
    match: { api: "Produce" },
    trigger: { on_call: 3 },
  });
  const left = await publisher.publishAll(["order-1", "order-2", "order-3", "order-4"]);
  assert.deepEqual(left, ["order-3", "order-4"]);
  assert.equal(await stored(), 2);
});

test("a leader that is not there yet is waited for", async () => {
  await allow();
  const { id } = await broker.post("/faults", {
    action: { error: "NOT_LEADER_OR_FOLLOWER" },
    match: { api: "Produce" },
    trigger: { times: 2 },
  });
  await publisher.publish("order-1");
  assert.equal((await broker.get(`/faults/${id}`)).fired, 2);
  assert.equal(await stored(), 1);
});
