const { start } = require("kafka-shim");
const { Kafka, logLevel } = require("kafkajs");

let broker, producer;
beforeEach(async () => {
  broker = await start({ users: { alice: "alice-secret" }, topics: ["orders"] });
  producer = new Kafka({ ...broker.kafkajs("alice"), logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
});
afterEach(async () => {
  await producer.disconnect();
  await broker.stop();
});

const publish = () => producer.send({ topic: "orders", messages: [{ value: "order-1" }] });

test("without permission an order is refused", async () => {
  await expect(publish()).rejects.toThrow("Not authorized to access topics");
  expect(await broker.denials()).toMatchObject([{ principal: "User:alice", resourceName: "orders" }]);
});

test("a new leader is found", async () => {
  await broker.addAcls({ principal: "User:alice", allow: "Write", topic: "orders" });
  const fault = { action: { error: "NOT_LEADER_OR_FOLLOWER" }, match: { api: "Produce" } };
  const id = await broker.addFault(fault);
  await publish();
  expect(await broker.fault(id)).toMatchObject({ calls: 2, fired: 1 });
});
