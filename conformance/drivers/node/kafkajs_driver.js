// Drives kafkajs: `node kafkajs_driver.js`.
import { createRequire } from "node:module";
import kafkajs from "kafkajs";
import { AdminCommands, errorOf } from "./kafkajs_admin.js";
import { Inbox, Unsupported, serve, tlsOf } from "./loop.js";

const { Kafka, logLevel, CompressionTypes } = kafkajs;

const version = createRequire(import.meta.url)("kafkajs/package.json").version;
const capabilities = [
  ...["plain", "scram", "oauthbearer", "tls", "reauthentication", "idempotence", "transactions"],
  ...["classic-groups", "prefixed-acls"],
];

class Client extends AdminCommands {
  #settings;
  #login;
  #kafka;
  #inbox = new Inbox();
  #subscribed = "";
  #positions = new Map(); // of what was read, by `topic-partition`
  #made = {};
  #transaction = null;

  constructor({ servers, settings, login, tls }) {
    super();
    const unknown = (settings["group.protocol"] ?? "classic") !== "classic";
    if (unknown || settings["group.instance.id"] || login?.is_delegation_token) {
      throw new Unsupported();
    }
    this.#settings = settings;
    this.#login = login;
    this.#kafka = new Kafka({
      clientId: settings["client.id"],
      brokers: servers.split(","),
      logLevel: logLevel.NOTHING,
      requestTimeout: this.#number("request.timeout.ms", 30000),
      retry: { initialRetryTime: this.#number("retry.backoff.ms", 100) },
      ssl: tls ? tlsOf(tls) : undefined,
      sasl: login ? this.#sasl(login) : undefined,
    });
  }

  #number = (name, otherwise) => Number(this.#settings[name] ?? otherwise);

  #sasl({ mechanism, user, password }) {
    if (mechanism === "OAUTHBEARER") {
      const oauthBearerProvider = async () => ({ value: this.#login.token });
      return { mechanism: "oauthbearer", oauthBearerProvider };
    }
    return { mechanism: mechanism.toLowerCase(), username: user, password };
  }

  async _admin() {
    this.#made.admin ??= this.#kafka.admin();
    await this.#made.admin.connect(); // nothing if it is connected
    return this.#made.admin;
  }

  async #producer() {
    const settings = this.#settings;
    const transactionalId = settings["transactional.id"];
    this.#made.producer ??= this.#kafka.producer({
      metadataMaxAge: this.#number("metadata.max.age.ms", 300000),
      allowAutoTopicCreation: settings["allow.auto.create.topics"] !== "false",
      transactionTimeout: this.#number("transaction.timeout.ms", 60000),
      transactionalId,
      // with both it asks for a second producer id, of no transaction
      idempotent: transactionalId ? undefined : settings["enable.idempotence"] === "true",
      maxInFlightRequests: transactionalId ? 1 : undefined,
    });
    await this.#made.producer.connect();
    return this.#made.producer;
  }

  async close() {
    for (const client of Object.values(this.#made)) await client.disconnect();
  }

  set_login({ login }) {
    if (login.mechanism !== "OAUTHBEARER") throw new Unsupported(); // others are copied
    this.#login = login;
  }

  wait({ events, seconds }) {
    return this.#inbox.wait(events, seconds, errorOf);
  }

  async produce({ topic, values, partition }) {
    const sender = this.#transaction ?? (await this.#producer());
    const told = await sender.send({
      topic,
      messages: values.map((value) => ({ value, partition })),
      acks: Number({ all: -1 }[this.#settings.acks] ?? this.#settings.acks ?? -1),
      timeout: this.#number("request.timeout.ms", 30000),
      compression: CompressionTypes[this.#compression()],
    });
    const first = Number(told[0]?.baseOffset ?? -1); // of all, as they are in one partition
    return { offsets: values.map((_, index) => first + index) };
  }

  #compression() {
    const name = this.#settings["compression.type"] ?? "none";
    if (!["none", "gzip"].includes(name)) throw new Unsupported(); // these take other packages
    return name === "gzip" ? "GZIP" : "None";
  }

  async begin() {
    this.#transaction = await (await this.#producer()).transaction();
  }

  async send_offsets({ group, topic, partition, offset }) {
    const topics = [{ topic, partitions: [{ partition, offset: String(offset) }] }];
    await this.#transaction.sendOffsets({ consumerGroupId: group, topics });
  }

  #end() {
    const transaction = this.#transaction;
    this.#transaction = null;
    return transaction;
  }

  async commit() {
    await this.#end().commit();
  }

  async abort() {
    await this.#end().abort();
  }

  async consume({ topics, count, seconds }) {
    if (this.#subscribed !== String(topics)) {
      this.#subscribed = String(topics);
      this.#run(topics).catch((error) => this.#inbox.failed(error));
    }
    return this.#inbox.take(count, seconds);
  }

  async #run(topics) {
    await this.#made.consumer?.disconnect();
    const consumer = this.#kafka.consumer({
      groupId: this.#settings["group.id"],
      metadataMaxAge: this.#number("metadata.max.age.ms", 300000),
      allowAutoTopicCreation: this.#settings["allow.auto.create.topics"] !== "false",
      sessionTimeout: this.#number("session.timeout.ms", 30000),
      heartbeatInterval: this.#number("heartbeat.interval.ms", 3000),
      readUncommitted: this.#settings["isolation.level"] !== "read_committed",
      maxBytesPerPartition: this.#number("max.partition.fetch.bytes", 1048576),
      maxBytes: this.#number("fetch.max.bytes", 10485760),
      maxWaitTimeInMs: 500,
    });
    this.#made.consumer = consumer;
    consumer.on(consumer.events.GROUP_JOIN, () => this.#inbox.happened("assigned"));
    consumer.on(consumer.events.REBALANCING, () => this.#inbox.happened("revoked"));
    consumer.on(consumer.events.CRASH, ({ payload }) => this.#crashed(payload));
    await consumer.connect();
    const fromBeginning = this.#settings["auto.offset.reset"] === "earliest";
    await consumer.subscribe({ topics, fromBeginning });
    await consumer.run({
      autoCommit: this.#settings["enable.auto.commit"] !== "false",
      eachMessage: async ({ topic, partition, message }) => {
        const offset = String(Number(message.offset) + 1);
        this.#positions.set(`${topic}-${partition}`, { topic, partition, offset });
        this.#inbox.read(message.value.toString());
      },
    });
  }

  /** A consumer that does not begin again by itself is subscribed anew by the next `consume`. */
  #crashed({ error, restart }) {
    if (!restart) this.#subscribed = "";
    this.#inbox.failed(error);
  }

  async commit_offsets() {
    await this.#made.consumer.commitOffsets([...this.#positions.values()]);
  }
}

await serve("kafkajs", version, capabilities, Client, errorOf);
