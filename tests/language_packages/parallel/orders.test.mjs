// Twenty tests at the same time: each user writes to its own broker, or is denied.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { start } from "kafka-shim";
import { Kafka, logLevel } from "kafkajs";

async function publish(broker, user, value) {
  const producer = new Kafka({ ...broker.kafkajs(user), logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  try {
    await producer.send({ topic: "orders", messages: [{ value }] });
  } finally {
    await producer.disconnect();
  }
}

describe("orders", { concurrency: 20 }, () => {
  for (let number = 0; number < 20; number++) {
    test(`order ${number}`, async (t) => {
      const user = `user-${number}`;
      const broker = await start({ users: { [user]: "secret" }, topics: ["orders"] });
      t.after(() => broker.stop(t));
      if (number % 2 === 0) {
        await broker.addAcls({ principal: user, allow: "Write", topic: "orders" });
        await publish(broker, user, `${number}`);
        assert.deepEqual((await broker.records("orders")).map((record) => record.value), [`${number}`]);
        assert.deepEqual(await broker.denials(), []);
        return;
      }
      await assert.rejects(publish(broker, user, `${number}`), /Not authorized to access topics/);
      await broker.assertDenied(user, "Describe", "topic:orders");
      const denials = await broker.denials();
      assert.deepEqual(denials.map((denial) => denial.principal), [`User:${user}`]);
    });
  }
});
