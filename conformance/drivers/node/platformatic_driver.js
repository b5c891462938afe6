// The driver of @platformatic/kafka: `node platformatic_driver.js`.
import * as kafka from "@platformatic/kafka";
import { RunningClient, Unsupported, aclForms, byTopic, each, given, items } from "./loop.js";
import { numberOf, offsetOrNull, partitionOf, serve, tlsOf, versionOf } from "./loop.js";

const capabilities = [
  ...["plain", "scram", "oauthbearer", "tls", "reauthentication", "idempotence", "transactions"],
  ...["classic-groups", "consumer-groups", "static-members", "prefixed-acls"],
];
const { ProduceAcks, FetchIsolationLevels } = kafka;
const ACKS = { 0: ProduceAcks.NO_RESPONSE, 1: ProduceAcks.LEADER, all: ProduceAcks.ALL };
const { ResourceTypes, ResourcePatternTypes, AclOperations, AclPermissionTypes } = kafka;
const acl = aclForms(ResourceTypes, ResourcePatternTypes, AclOperations, AclPermissionTypes, null);

/** Returns the wanted errors within an error of the client, at any depth. */
function within(error, isWanted) {
  if (isWanted(error)) return [error];
  const causes = [...(error.errors ?? []), error.cause].filter(Boolean);
  return causes.flatMap((cause) => within(cause, isWanted));
}

function errorOf(error) {
  const [first = error] = within(error, ({ apiCode }) => typeof apiCode === "number");
  const code = first.apiCode ?? null;
  const text = `${error.message}: ${first.message}`;
  return { class: first.apiId ?? first.name, code, text, retriable: first.canRetry };
}

/** Returns pairs of names and errors; an error has a path in its response, such as /topics/0. */
function failuresOf(error) {
  const hasPaths = (found) => found.response && found.errors?.some(({ path }) => path != null);
  return within(error, hasPaths).flatMap(({ response, errors }) =>
    errors.flatMap((failure) => {
      const steps = (failure.path ?? "").split("/").filter(Boolean);
      const row = steps.reduce((at, step) => at?.[step], response);
      const name = row?.name ?? row?.groupId ?? row?.resourceName ?? row?.topicName;
      if (name !== undefined) return [[name, failure]];
      return /results?\/\d+$/.test(failure.path) ? [[steps.at(-1), failure]] : [];
    }),
  );
}

/** Returns the row about a `topic-partition` in a response. */
function rowOf(topics, name) {
  const { topic, partition } = partitionOf(name);
  const { partitions } = topics.find((row) => row.name === topic);
  return partitions.find((row) => row.partitionIndex === partition);
}

const indexes = (name, partitionIndexes) => ({ name, partitionIndexes });

class Client extends RunningClient {
  #settings;
  #login;
  #shared;
  #made = {};

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
      ...given({ tls: tls && tlsOf(tls), sasl: login && this.#sasl(login.mechanism) }),
    };
  }

  #number(name, otherwise) {
    return name in this.#settings ? Number(this.#settings[name]) : otherwise;
  }

  /** Returns the credentials as functions, which the client calls for each connection. */
  #sasl(mechanism) {
    if (mechanism === "OAUTHBEARER") return { mechanism, token: () => this.#login.token };
    return { mechanism, username: () => this.#login.user, password: () => this.#login.password };
  }

  #admin() {
    return (this.#made.admin ??= new kafka.Admin(this.#shared));
  }

  #producer() {
    const transactionalId = this.#settings["transactional.id"];
    return (this.#made.producer ??= new kafka.Producer({
      ...this.#shared,
      acks: ACKS[this.#settings.acks ?? "all"],
      idempotent: this.#settings["enable.idempotence"] === "true" || Boolean(transactionalId),
      ...given({ transactionalId, compression: this.#settings["compression.type"] }),
    }));
  }

  #consumer() {
    if (this.#made.consumer) return this.#made.consumer;
    const settings = this.#settings;
    const isolation = settings["isolation.level"] ?? "read_uncommitted";
    const sessionTimeout = this.#number("session.timeout.ms", 60000);
    const heartbeatInterval = this.#number("heartbeat.interval.ms", 3000);
    const rebalanceTimeout = Math.max(sessionTimeout, 60000);
    const classic = { sessionTimeout, heartbeatInterval, rebalanceTimeout };
    const made = new kafka.Consumer({
      ...this.#shared,
      ...(settings["group.protocol"] === "consumer" ? { groupProtocol: "consumer" } : classic),
      groupId: settings["group.id"] ?? "none",
      maxWaitTime: 500,
      isolationLevel: FetchIsolationLevels[isolation.toUpperCase()],
      ...given({
        groupInstanceId: settings["group.instance.id"],
        maxBytes: this.#number("fetch.max.bytes"),
        maxBytesPerPartition: this.#number("max.partition.fetch.bytes"),
      }),
    });
    made.on("consumer:group:join", () => this._inbox.happened("assigned"));
    made.on("consumer:group:rebalance", () => this._inbox.happened("revoked"));
    made.on("error", (error) => this._inbox.failed(error));
    made.on("consumer:heartbeat:error", ({ error }) => this._inbox.failed(error));
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

  /** Creates topics by one call for each number of partitions, as the client requires. */
  async create_topics({ topics, configs: settings = {} }) {
    const configs = Object.entries(settings).map(([name, value]) => ({ name, value }));
    const names = Object.keys(topics);
    const calls = [...new Set(Object.values(topics))].map((partitions) => {
      const wanted = names.filter((name) => topics[name] === partitions);
      return this.#admin().createTopics({ topics: wanted, partitions, replicas: 1, configs });
    });
    return each(names, Promise.all(calls), failuresOf);
  }

  async delete_topics({ names }) {
    return each(names, this.#admin().deleteTopics({ topics: names }), failuresOf);
  }

  async create_partitions({ topics }) {
    const rows = Object.entries(topics);
    const wanted = rows.map(([name, count]) => ({ name, count, assignments: null }));
    const done = this.#admin().createPartitions({ topics: wanted });
    return each(Object.keys(topics), done, failuresOf);
  }

  async list_topics() {
    return { topics: await this.#admin().listTopics() };
  }

  async describe_topics({ names }) {
    const { topics } = await this.#admin().metadata({ topics: names, forceUpdate: true });
    const count = (name) => topics.get(name).partitionsCount;
    return items(names, (name) => ({ operations: null, partitions: count(name) }));
  }

  async describe_cluster() {
    const { brokers } = await this.#admin().metadata({ topics: [], forceUpdate: true });
    return { operations: null, brokers: [...brokers.keys()] };
  }

  async describe_configs({ type, names }) {
    const resourceType = numberOf(kafka.ConfigResourceTypes, type.toUpperCase());
    const resources = names.map((resourceName) => ({ resourceType, resourceName }));
    const told = await this.#admin().describeConfigs({ resources });
    return items(names, (name) => {
      const { configs } = told.find(({ resourceName }) => resourceName === name);
      return { settings: Object.fromEntries(configs.map((row) => [row.name, row.value])) };
    });
  }

  async alter_configs({ type, names, setting, value }) {
    const resourceType = numberOf(kafka.ConfigResourceTypes, type.toUpperCase());
    const configOperation = kafka.IncrementalAlterConfigOperationTypes.SET;
    const configs = [{ name: setting, value, configOperation }];
    const resources = names.map((resourceName) => ({ resourceType, resourceName, configs }));
    return each(names, this.#admin().incrementalAlterConfigs({ resources }), failuresOf);
  }

  async list_offsets({ partitions }) {
    const timestamp = kafka.ListOffsetTimestamps.LATEST;
    const topics = byTopic(partitions, (name, numbers) => {
      return { name, partitions: numbers.map((partitionIndex) => ({ partitionIndex, timestamp })) };
    });
    const told = await this.#admin().listOffsets({ topics });
    return items(partitions, (name) => ({ offset: Number(rowOf(told, name).offset) }));
  }

  async delete_records({ topic, partition, before }) {
    const partitions = [{ partition, offset: BigInt(before) }];
    await this.#admin().deleteRecords({ topics: [{ name: topic, partitions }] });
  }

  async create_acls({ acls }) {
    const done = this.#admin().createAcls({ creations: acls.map(acl.wire) });
    return each(Object.keys(acls), done, failuresOf);
  }

  async describe_acls({ filter }) {
    const resources = await this.#admin().describeAcls({ filter: acl.wire(filter) });
    return { acls: resources.flatMap((at) => at.acls.map((entry) => acl.plain(at, entry))) };
  }

  async delete_acls({ filters }) {
    if (filters.length > 1) throw new Unsupported(); // no match of filters and ACLs
    return items(Object.keys(filters), async (number) => {
      const found = await this.#admin().deleteAcls({ filters: [acl.wire(filters[number])] });
      return { acls: found.map((entry) => acl.plain(entry)) };
    });
  }

  async list_groups() {
    return { groups: [...(await this.#admin().listGroups({})).keys()] };
  }

  async describe_groups({ names }) {
    const found = await this.#admin().describeGroups({ groups: names });
    return items(names, (name) => ({ operations: null, members: found.get(name).members.size }));
  }

  async delete_groups({ names }) {
    return each(names, this.#admin().deleteGroups({ groups: names }), failuresOf);
  }

  async group_offsets({ group, partitions }) {
    const groups = [{ groupId: group, topics: byTopic(partitions, indexes) }];
    const [told] = await this.#admin().listConsumerGroupOffsets({ groups });
    return items(partitions, (name) => offsetOrNull(rowOf(told.topics, name).committedOffset));
  }

  async alter_group_offsets({ group, topic, partition, offset }) {
    const partitionOffsets = [{ partition, offset: BigInt(offset) }];
    const topics = [{ name: topic, partitionOffsets }];
    await this.#admin().alterConsumerGroupOffsets({ groupId: group, topics });
  }

  async delete_group_offsets({ group, partitions }) {
    const topics = byTopic(partitions, indexes);
    return each(partitions, this.#admin().deleteConsumerGroupOffsets({ groupId: group, topics }));
  }

  async produce({ topic, values, partition }) {
    const sender = this._transaction ?? this.#producer();
    const messages = values.map((text) => ({ topic, value: Buffer.from(text), partition }));
    const { offsets = [] } = await sender.send({ messages });
    const first = Number(offsets[0]?.offset ?? -1); // of all values, which are in one partition
    return { offsets: values.map((_, index) => first + index) };
  }

  async begin() {
    this._transaction = await this.#producer().beginTransaction();
  }

  async _run(topics) {
    const stream = await this.#consumer().consume({
      topics,
      mode: "committed",
      fallbackMode: this.#settings["auto.offset.reset"] ?? "latest",
      autocommit: this.#settings["enable.auto.commit"] !== "false",
    });
    stream.on("error", (error) => this._stopped(error));
    stream.on("data", ({ topic, partition, offset, value }) => {
      this._read(value, topic, partition, offset + 1n);
    });
  }

  async commit_offsets() {
    const offsets = this._positions().map((position) => ({ ...position, leaderEpoch: -1 }));
    await this.#consumer().commit({ offsets });
  }

  async committed({ partitions }) {
    const topics = byTopic(partitions, (topic, numbers) => ({ topic, partitions: numbers }));
    const found = await this.#consumer().listCommittedOffsets({ topics });
    return items(partitions, (name) => {
      const { topic, partition } = partitionOf(name);
      return offsetOrNull(found.get(topic)?.[partition] ?? -1);
    });
  }
}

await serve("platformatic", versionOf("@platformatic/kafka"), capabilities, Client, errorOf);
