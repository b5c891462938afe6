// A test with a container, which runs against Docker or the stand-in for it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Kafka, logLevel } from "kafkajs";
import { KafkaShimContainer } from "kafka-shim/testcontainers";

async function publish(config) {
  const producer = new Kafka({ ...config, logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  try {
    await producer.send({ topic: "orders", messages: [{ value: "order-1" }] });
  } finally {
    await producer.disconnect();
  }
}

for (const kafkaVersion of ["3.9", "4.3"]) {
  test(`alice may publish to ${kafkaVersion} and bob may not`, { concurrency: true }, async () => {
    const container = await new KafkaShimContainer(process.env.KAFKA_SHIM_IMAGE)
      .withOptions({ kafkaVersion, topics: ["orders"], users: { alice: "a", bob: "b" } })
      .withOptions({ acls: [{ principal: "User:alice", allow: "Write", topic: "orders" }] })
      .start();
    try {
      const { broker } = container;
      await publish(broker.kafkajs("alice"));
      await assert.rejects(publish(broker.kafkajs("bob")), /Not authorized/);
      await publish({ brokers: [container.getBootstrapServers()] });
      assert.equal((await broker.records("orders")).length, 2);
      assert.equal((await broker.denials())[0].principal, "User:bob");
      assert.equal((await broker.request("GET", "/state")).release, kafkaVersion);
    } finally {
      await container.stop();
    }
  });
}
