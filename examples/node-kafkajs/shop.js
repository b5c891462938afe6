// What the tests have in common: a broker with a topic and a user, and a publisher that logs in.
import { start } from "kafka-shim";

import { Publisher, TOPIC } from "./publisher.js";

export const MAY_WRITE = { principal: "User:shop", allow: ["Write"], topic: TOPIC };

export async function openShop(options = {}) {
  const broker = await start({ users: { shop: "secret" }, topics: [TOPIC], ...options });
  const publisher = new Publisher(broker.kafkajs("shop"));
  await publisher.connect();
  return {
    broker,
    publisher,
    /** Return how many orders the broker has. */
    async stored() {
      const [topic] = await broker.topics();
      return topic.endOffsets[0];
    },
    async close() {
      await publisher.close();
      await broker.stop();
    },
  };
}
