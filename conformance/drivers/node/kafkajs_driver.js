// The driver of kafkajs: `node kafkajs_driver.js`.
import kafkajs from "kafkajs";
import { RunningClient, Unsupported, aclForms, byTopic, each, items } from "./loop.js";
import { numberOf, offsetOrNull, partitionOf, serve, tlsOf, versionOf } from "./loop.js";

const { Kafka, logLevel, CompressionTypes, ConfigResourceTypes } = kafkajs;
const { AclResourceTypes, ResourcePatternTypes, AclOperationTypes, AclPermissionTypes } = kafkajs;

const capabilities = [
  ...["plain", "scram", "oauthbearer", "tls", "reauthentication", "idempotence", "transactions"],
  ...["classic-groups", "prefixed-acls"],
];
const TOPIC_ALREADY_EXISTS = 36;
const COMPRESSIONS = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP }; // needs no package
const acl = aclForms(AclResourceTypes, ResourcePatternTypes, AclOperationTypes, AclPermissionTypes);

/** Reports an error, with the code of the Kafka error that it wraps, if any. */
function errorOf(error) {
  let cause = error.errors?.[0] ?? error.groups?.[0]?.error ?? error;
  while (typeof cause.code !== "number" && cause.cause instanceof Error) cause = cause.cause;
  const code = typeof cause.code === "number" ? cause.code : null;
  return { class: cause.name, code, text: String(error.message), retriable: error.retriable };
}

class Client extends RunningClient {
  #settings;
  #login;
  #kafka;
  #made = {};

  constructor({ servers, settings, login, tls }) {
    super();
    const isConsumer = settings["group.protocol"] === "consumer";
    const isStatic = settings["group.instance.id"];
    if (isConsumer || isStatic || login?.is_delegation_token) throw new Unsupported();
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

  async #admin() {
    this.#made.admin ??= this.#kafka.admin();
    await this.#made.admin.connect(); // does nothing if it is connected
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
      // with both settings, kafkajs requests a second producer id without a transaction
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
    if (login.mechanism !== "OAUTHBEARER") throw new Unsupported(); // kafkajs copies other credentials
    this.#login = login;
  }

  async create_topics({ topics, configs = {} }) {
    const names = Object.keys(topics);
    const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }));
    const wanted = names.map((topic) => {
      return { topic, numPartitions: topics[topic], replicationFactor: 1, configEntries };
    });
    const made = (await this.#admin()).createTopics({ topics: wanted }).then((areNew) => {
      // false if a topic exists, but not which one
      if (areNew || names.length > 1) return;
      throw Object.assign(new Error("false"), { code: TOPIC_ALREADY_EXISTS });
    });
    return each(names, made, ({ errors }) => errors?.map((error) => [error.topic, error]));
  }

  async delete_topics({ names }) {
    return each(names, (await this.#admin()).deleteTopics({ topics: names }));
  }

  async create_partitions({ topics }) {
    const topicPartitions = Object.entries(topics).map(([topic, count]) => ({ topic, count }));
    return each(Object.keys(topics), (await this.#admin()).createPartitions({ topicPartitions }));
  }

  async list_topics() {
    return { topics: await (await this.#admin()).listTopics() };
  }

  async describe_topics({ names }) {
    const { topics } = await (await this.#admin()).fetchTopicMetadata({ topics: names });
    return items(names, (name) => {
      const { partitions } = topics.find((topic) => topic.name === name);
      return { operations: null, partitions: partitions.length };
    });
  }

  async describe_cluster() {
    const { brokers } = await (await this.#admin()).describeCluster();
    return { operations: null, brokers: brokers.map(({ nodeId }) => nodeId) };
  }

  async describe_configs({ type, names }) {
    const kind = numberOf(ConfigResourceTypes, type.toUpperCase());
    const asked = names.map((name) => ({ type: kind, name }));
    const admin = await this.#admin();
    const told = await admin.describeConfigs({ resources: asked, includeSynonyms: false });
    return items(names, (name) => {
      const { configEntries } = told.resources.find(({ resourceName }) => resourceName === name);
      const pairs = configEntries.map(({ configName, configValue }) => [configName, configValue]);
      return { settings: Object.fromEntries(pairs) };
    });
  }

  list_offsets({ partitions }) {
    return items(partitions, async (name) => {
      const { topic, partition } = partitionOf(name);
      const rows = await (await this.#admin()).fetchTopicOffsets(topic);
      return { offset: Number(rows.find((row) => row.partition === partition).offset) };
    });
  }

  async delete_records({ topic, partition, before }) {
    const partitions = [{ partition, offset: String(before) }];
    await (await this.#admin()).deleteTopicRecords({ topic, partitions }).catch((error) => {
      throw error.partitions?.find((row) => row.error)?.error ?? error;
    });
  }

  async create_acls({ acls }) {
    return each(Object.keys(acls), (await this.#admin()).createAcls({ acl: acls.map(acl.wire) }));
  }

  async describe_acls({ filter }) {
    const { resources } = await (await this.#admin()).describeAcls(acl.wire(filter));
    return { acls: resources.flatMap((at) => at.acls.map((entry) => acl.plain(at, entry))) };
  }

  async delete_acls({ filters }) {
    const told = await (await this.#admin()).deleteAcls({ filters: filters.map(acl.wire) });
    return items(Object.keys(filters), (number) => {
      const { matchingAcls } = told.filterResponses[number];
      return { acls: matchingAcls.map((entry) => acl.plain(entry)) };
    });
  }

  async list_groups() {
    const { groups } = await (await this.#admin()).listGroups();
    return { groups: groups.map(({ groupId }) => groupId) };
  }

  async describe_groups({ names }) {
    const { groups } = await (await this.#admin()).describeGroups(names);
    return items(names, (name) => {
      const { members } = groups.find(({ groupId }) => groupId === name);
      return { operations: null, members: members.length };
    });
  }

  async delete_groups({ names }) {
    const done = (await this.#admin()).deleteGroups(names);
    return each(names, done, ({ groups }) => groups?.map((row) => [row.groupId, row.error]));
  }

  async group_offsets({ group, partitions }) {
    const topics = byTopic(partitions, (topic) => topic);
    const told = await (await this.#admin()).fetchOffsets({ groupId: group, topics });
    return items(partitions, (name) => {
      const { topic, partition } = partitionOf(name);
      const rows = told.find((row) => row.topic === topic).partitions;
      return offsetOrNull(rows.find((row) => row.partition === partition).offset);
    });
  }

  async alter_group_offsets({ group, topic, partition, offset }) {
    const partitions = [{ partition, offset: String(offset) }];
    await (await this.#admin()).setOffsets({ groupId: group, topic, partitions });
  }

  async produce({ topic, values, partition }) {
    const sender = this._transaction ?? (await this.#producer());
    const told = await sender.send({
      topic,
      messages: values.map((value) => ({ value, partition })),
      acks: Number({ all: -1 }[this.#settings.acks] ?? this.#settings.acks ?? -1),
      timeout: this.#number("request.timeout.ms", 30000),
      compression: numberOf(COMPRESSIONS, this.#settings["compression.type"] ?? "none"),
    });
    const first = Number(told[0]?.baseOffset ?? -1); // of all values, which are in one partition
    return { offsets: values.map((_, index) => first + index) };
  }

  async begin() {
    this._transaction = await (await this.#producer()).transaction();
  }

  async send_offsets({ group, topic, partition, offset }) {
    const topics = [{ topic, partitions: [{ partition, offset: String(offset) }] }];
    await this._transaction.sendOffsets({ consumerGroupId: group, topics });
  }

  async _run(topics) {
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
    consumer.on(consumer.events.GROUP_JOIN, () => this._inbox.happened("assigned"));
    consumer.on(consumer.events.REBALANCING, () => this._inbox.happened("revoked"));
    consumer.on(consumer.events.CRASH, ({ payload: { error, restart } }) => {
      if (restart) this._inbox.failed(error);
      else this._stopped(error);
    });
    await consumer.connect();
    const fromBeginning = this.#settings["auto.offset.reset"] === "earliest";
    await consumer.subscribe({ topics, fromBeginning });
    await consumer.run({
      autoCommit: this.#settings["enable.auto.commit"] !== "false",
      eachMessage: async ({ topic, partition, message }) => {
        this._read(message.value, topic, partition, String(Number(message.offset) + 1));
      },
    });
  }

  async commit_offsets() {
    await this.#made.consumer.commitOffsets(this._positions());
  }
}

await serve("kafkajs", versionOf("kafkajs"), capabilities, Client, errorOf);
