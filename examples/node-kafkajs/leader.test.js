import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { MAY_WRITE, openShop } from "./shop.js";

let shop;
before(async () => { shop = await openShop({ acls: [MAY_WRITE] }); });
after(() => shop.close());

test("a leader that is not there yet is waited for", async () => {
  const id = await shop.broker.addFault({
    action: { error: "NOT_LEADER_OR_FOLLOWER" },
    match: { api: "Produce" },
    trigger: { times: 2 },
  });
  await shop.publisher.publish("order-1");
  assert.equal((await shop.broker.fault(id)).fired, 2);
  assert.equal(await shop.stored(), 1);
});
