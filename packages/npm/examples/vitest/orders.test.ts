import { type Broker, start } from "kafka-shim";
import { Kafka, logLevel } from "kafkajs";
import { expect, test as base } from "vitest";

const test = base.extend<{ broker: Broker }>({
  broker: async ({ task }, use) => {
    const broker = await start({
      users: { alice: "alice-secret" },
      topics: ["orders"],
      acls: [{ principal: "User:alice", allow: "Write", topic: "orders" }],
    });
    await use(broker);
    await broker.stop(task); // prints what was denied if the test has failed
  },
});

async function publish(broker: Broker, order: string) {
  const producer = new Kafka({ ...broker.kafkajs("alice"), logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  try {
    await producer.send({ topic: "orders", messages: [{ value: order }] });
  } finally {
    await producer.disconnect();
  }
}

test.concurrent("an order is stored", async ({ broker }) => {
  await publish(broker, "order-1");
  expect(await broker.records("orders")).toMatchObject([{ value: "order-1" }]);
});

test.concurrent("without its permission an order is refused", async ({ broker }) => {
  await broker.removeAcls({ principal: "User:alice", allow: "Write", topic: "orders" });
  await expect(publish(broker, "order-2")).rejects.toThrow("Not authorized");
  expect(await broker.records("orders")).toEqual([]);
});
