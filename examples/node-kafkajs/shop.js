// What the tests have in common: a broker with a topic and a user, and a publisher that logs in.
import { Broker } from "./kafka-shim.js";
import { Publisher, TOPIC } from "./publisher.js";

export const MAY_WRITE = { principal: "User:shop", allow: ["Write"], topic: TOPIC };

export async function openShop(settings = {}) {
  const broker = await Broker.create({ users: { shop: "secret" }, topics: [TOPIC], ...settings });
  const publisher = new Publisher(broker.settings("shop", "secret"));
  await publisher.connect();
  return {
    broker,
    publisher,
    allow: () => broker.post("/acls", { acls: [MAY_WRITE] }),
    /** How many orders the broker has. */
    async stored() {
      const { topics } = await broker.get("/topics");
      return topics[0].end_offsets[0];
    },
    async close() {
      await publisher.close();
      await broker.remove();
    },
  };
}
