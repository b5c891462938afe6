import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { MAY_WRITE, openShop } from "./shop.js";

let shop;
before(async () => { shop = await openShop({ acls: [MAY_WRITE] }); });
after(() => shop.close());

test("no order is lost when a permission is removed", async () => {
  await shop.broker.addFault({
    action: { revoke: [MAY_WRITE] },
    match: { api: "Produce" },
    trigger: { onCall: 3 },
  });
  const left = await shop.publisher.publishAll(["order-1", "order-2", "order-3", "order-4"]);
  assert.deepEqual(left, ["order-3", "order-4"]);
  assert.equal(await shop.stored(), 2);
});
