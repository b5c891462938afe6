// What is tested: a small publisher of orders.
import kafkajs from "kafkajs";

const { Kafka, logLevel } = kafkajs;

export const TOPIC = "orders";

/** The service lacks permission; an operator has to act, a retry does not help. */
export class NotAllowedError extends Error {}

export class Publisher {
  constructor(settings) {
    const kafka = new Kafka({ logLevel: logLevel.NOTHING, ...settings });
    this.producer = kafka.producer();
  }

  connect() {
    return this.producer.connect();
  }

  /** Returns once the order is stored. */
  async publish(order) {
    try {
      await this.producer.send({ topic: TOPIC, messages: [{ value: order }] });
    } catch (error) {
      const cause = error.cause ?? error;
      if (cause.type !== "TOPIC_AUTHORIZATION_FAILED") throw error;
      throw new NotAllowedError(`this service may not write to ${TOPIC}`, { cause });
    }
  }

  /** Publishes until permission is missing; the orders that are left. */
  async publishAll(orders) {
    for (const [at, order] of orders.entries()) {
      try {
        await this.publish(order);
      } catch (error) {
        if (error instanceof NotAllowedError) return orders.slice(at);
        throw error;
      }
    }
    return [];
  }

  close() {
    return this.producer.disconnect();
  }
}
