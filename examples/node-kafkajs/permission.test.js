// Each test file has a broker of its own; files run in parallel.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { NotAllowedError } from "./publisher.js";
import { openShop } from "./shop.js";

let shop;
before(async () => { shop = await openShop(); });
after(() => shop.close());

test("without permission the publisher says so", async () => {
  await assert.rejects(shop.publisher.publish("order-1"), NotAllowedError);
  const { decisions } = await shop.broker.get("/decisions?allowed=false&logged=true");
  assert.equal(decisions[0].principal, "User:shop");
  assert.equal(await shop.stored(), 0);
});

test("with permission an order is published", async () => {
  await shop.allow();
  await shop.publisher.publish("order-1");
  assert.equal(await shop.stored(), 1);
});
