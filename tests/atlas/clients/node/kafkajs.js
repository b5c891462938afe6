// KafkaJS produces, or consumes in a group and commits.
const { Kafka, logLevel } = require("kafkajs");

const kafka = new Kafka({
  brokers: process.env.KAFKA_BOOTSTRAP_SERVERS.split(","),
  sasl: { mechanism: "plain", username: process.env.KAFKA_USER, password: process.env.KAFKA_PASSWORD },
  logLevel: logLevel.NOTHING,
  retry: { retries: 3 },
});

async function produce() {
  const producer = kafka.producer();
  await producer.connect();
  await producer.send({ topic: "orders", messages: [{ value: "one" }] });
  await producer.disconnect();
}

async function consume() {
  const consumer = kafka.consumer({ groupId: "billing" });
  await consumer.connect();
  await consumer.subscribe({ topics: ["orders"], fromBeginning: true });
  const failed = new Promise((_, reject) => consumer.on(consumer.events.CRASH, (event) => reject(event.payload.error)));
  const consumed = new Promise((resolve) => {
    let count = 1; // the group has committed the first record
    consumer.run({ eachMessage: async () => { if (++count === 5) resolve(); } });
  });
  await Promise.race([consumed, failed]);
  await consumer.disconnect(); // commits
}

const task = process.argv[2] === "producer" ? produce : consume;
task().then(() => process.exit(0), (error) => {
  console.error("Traceback:", error.message);
  process.exit(1);
});
