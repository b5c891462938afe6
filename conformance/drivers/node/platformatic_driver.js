// Drives @platformatic/kafka: `node platformatic_driver.js`.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  Admin,
  Consumer,
  FetchIsolationLevels,
  ProduceAcks,
  Producer,
} from "@platformatic/kafka";
import { Inbox, Unsupported, byTopic, items, partitionOf, serve, tlsOf } from "./loop.js";
import { AdminCommands, errorOf } from "./platformatic_admin.js";

const main = fileURLToPath(import.meta.resolve("@platformatic/kafka"));
const { version } = JSON.parse(readFileSync(main.replace(/dist.*/, "package.json")));
const capabilities = [
  ...["plain", "scram", "oauthbearer", "tls", "reauthentication", "idempotence", "transactions"],
  ...["classic-groups", "consumer-groups", "static-members", "prefixed-acls"],
];
const ACKS = { 0: ProduceAcks.NO_RESPONSE, 1: ProduceAcks.LEADER, all: ProduceAcks.ALL };

class Client extends AdminCommands {
  #settings;
  #login;
  #shared;
  #made = {};
  #transaction = null;
  #subscribed = "";
  #inbox = new Inbox();
  #positions = new Map(); // of what was read, by `topic-partition`

  constructor({ servers, settings, login, tls }) {
    super();
    if (login?.is_delegation_token) throw new Unsupported();
    this.#settings = settings;
    this.#login = login;
    this.#shared = {
      clientId: settings["client.id"] ?? "conformance",
      bootstrapBrokers: servers.split(","),
      requestTimeout: this.#number("request.timeout.ms", 30000),
      timeout: this.#number("default.api.timeout.ms", 60000),
      metadataMaxAge: this.#number("metadata.max.age.ms", 300000),
      retryDelay: this.#number("retry.backoff.ms", 1000),
      autocreateTopics: settings["allow.auto.create.topics"] === "true",
      ...(tls ? { tls: tlsOf(tls) } : {}),
      ...(login ? { sasl: this.#sasl(login.mechanism) } : {}),
    };
  }

  #number = (name, otherwise) => Number(this.#settings[name] ?? otherwise);

  /** Asked for each time that the client logs in, so that it can be changed meanwhile. */
  #sasl(mechanism) {
    if (mechanism === "OAUTHBEARER") return { mechanism, token: () => this.#login.token };
    return { mechanism, username: () => this.#login.user, password: () => this.#login.password };
  }

  _admin() {
    this.#made.admin ??= new Admin(this.#shared);
    return this.#made.admin;
  }

  #producer() {
    const settings = this.#settings;
    const transactionalId = settings["transactional.id"];
    const isIdempotent = settings["enable.idempotence"] === "true" || transactionalId;
    const producer = { acks: ACKS[settings.acks ?? "all"], idempotent: Boolean(isIdempotent) };
    if (transactionalId) producer.transactionalId = transactionalId;
    if (settings["compression.type"]) producer.compression = settings["compression.type"];
    this.#made.producer ??= new Producer({ ...this.#shared, ...producer });
    return this.#made.producer;
  }

  #consumer() {
    if (this.#made.consumer) return this.#made.consumer;
    const settings = this.#settings;
    const consumer = { groupId: settings["group.id"] ?? "none", maxWaitTime: 500 };
    if (settings["group.instance.id"]) consumer.groupInstanceId = settings["group.instance.id"];
    if (settings["group.protocol"] === "consumer") consumer.groupProtocol = "consumer";
    else {
      consumer.sessionTimeout = this.#number("session.timeout.ms", 60000);
      consumer.heartbeatInterval = this.#number("heartbeat.interval.ms", 3000);
      consumer.rebalanceTimeout = Math.max(consumer.sessionTimeout, 60000);
    }
    if (settings["fetch.max.bytes"]) consumer.maxBytes = this.#number("fetch.max.bytes");
    if (settings["max.partition.fetch.bytes"]) {
      consumer.maxBytesPerPartition = this.#number("max.partition.fetch.bytes");
    }
    if (settings["isolation.level"] === "read_committed") {
      consumer.isolationLevel = FetchIsolationLevels.READ_COMMITTED;
    } else {
      consumer.isolationLevel = FetchIsolationLevels.READ_UNCOMMITTED;
    }
    const made = new Consumer({ ...this.#shared, ...consumer });
    made.on("consumer:group:join", () => this.#inbox.happened("assigned"));
    made.on("consumer:group:rebalance", () => this.#inbox.happened("revoked"));
    made.on("consumer:heartbeat:error", ({ error }) => this.#inbox.failed(error));
    this.#made.consumer = made;
    return made;
  }

  async close() {
    const { consumer, ...others } = this.#made;
    await consumer?.close(true);
    for (const client of Object.values(others)) await client.close();
  }

  set_login({ login }) {
    this.#login = login;
  }

  wait({ events, seconds }) {
    return this.#inbox.wait(events, seconds, errorOf);
  }

  async produce({ topic, values, partition }) {
    const sender = this.#transaction ?? this.#producer();
    const messages = values.map((text) => ({ topic, value: Buffer.from(text), partition }));
    const { offsets = [] } = await sender.send({ messages });
    const first = Number(offsets[0]?.offset ?? -1); // of all, as they are in one partition
    return { offsets: values.map((_, index) => first + index) };
  }

  async begin() {
    this.#transaction = await this.#producer().beginTransaction();
  }

  async send_offsets({ group, topic, partition, offset }) {
    this.#settings["group.id"] = group;
    await this.#transaction.addConsumer(this.#consumer());
    await this.#transaction.addOffset({ topic, partition, offset: BigInt(offset - 1) });
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
      this.#run(topics).catch((error) => this.#failed(error));
    }
    return this.#inbox.take(count, seconds);
  }

  async #run(topics) {
    const fallbackMode = this.#settings["auto.offset.reset"] ?? "latest";
    const autocommit = this.#settings["enable.auto.commit"] !== "false";
    const stream = await this.#consumer().consume({
      topics,
      mode: "committed",
      fallbackMode,
      autocommit,
    });
    stream.on("error", (error) => this.#failed(error));
    stream.on("data", ({ topic, partition, offset, value }) => {
      const next = { topic, partition, offset: offset + 1n, leaderEpoch: -1 };
      this.#positions.set(`${topic}-${partition}`, next);
      this.#inbox.read(value.toString());
    });
  }

  /** A stream cannot be used after an error: the next `consume` begins another. */
  #failed(error) {
    this.#subscribed = "";
    this.#inbox.failed(error);
  }

  async commit_offsets() {
    await this.#consumer().commit({ offsets: [...this.#positions.values()] });
  }

  async committed({ partitions }) {
    const topics = [...byTopic(partitions)].map(([topic, numbers]) => ({
      topic,
      partitions: numbers,
    }));
    const found = await this.#consumer().listCommittedOffsets({ topics });
    const offset = (name) => {
      const { topic, partition } = partitionOf(name);
      const told = Number(found.get(topic)?.[partition] ?? -1);
      return { offset: told < 0 ? null : told };
    };
    return items(partitions, offset, errorOf);
  }
}

await serve("platformatic", version, capabilities, Client, errorOf);
