// Each test file has a broker of its own; files run in parallel.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { NotAllowedError } from "./publisher.js";
import { MAY_WRITE, openShop } from "./shop.js";

let shop;
before(async () => { shop = await openShop(); });
after(() => shop.close());

test("without permission the publisher says so", async () => {
  await assert.rejects(shop.publisher.publish("order-1"), NotAllowedError);
  const [denial] = await shop.broker.denials();
  assert.equal(denial.principal, "User:shop");
  assert.equal(await shop.stored(), 0);
});

test("with permission an order is published", async () => {
  await shop.broker.addAcls(MAY_WRITE);
  await shop.publisher.publish("order-1");
  assert.equal(await shop.stored(), 1);
});
