import assert from "node:assert/strict";
import { test } from "node:test";

import { MAY_WRITE, openShop } from "./shop.js";

for (const release of ["2.8", "4.0"]) {
  test(`orders are published to Kafka ${release}`, async () => {
    const shop = await openShop({ kafkaVersion: release, acls: [MAY_WRITE] });
    await shop.publisher.publish("order-1");
    assert.equal((await shop.broker.request("GET", "/state")).release, release);
    assert.equal(await shop.stored(), 1);
    await shop.close();
  });
}
