import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { start } from "kafka-shim";
import { Kafka, logLevel } from "kafkajs";

let broker, producer;
before(async () => {
  broker = await start({ users: { alice: "alice-secret" }, topics: ["orders"] });
  producer = new Kafka({ ...broker.kafkajs("alice"), logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
});
after(async () => {
  await producer.disconnect();
  await broker.stop();
});

const publish = () => producer.send({ topic: "orders", messages: [{ value: "order-1" }] });

test("without permission an order is refused", async () => {
  await assert.rejects(publish(), /Not authorized to access topics/);
  const [denial] = await broker.denials();
  assert.equal(denial.principal, "User:alice");
});

test("with permission it is stored", async () => {
  await broker.addAcls({ principal: "User:alice", allow: "Write", topic: "orders" });
  await publish();
  const [record] = await broker.records("orders");
  assert.equal(record.value, "order-1");
});
