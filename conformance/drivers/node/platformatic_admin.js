// What @platformatic/kafka's admin client does for the driver, and how the driver reports its errors.
import {
  AclOperations,
  AclPermissionTypes,
  ConfigResourceTypes,
  IncrementalAlterConfigOperationTypes,
  ListOffsetTimestamps,
  ResourcePatternTypes,
  ResourceTypes,
} from "@platformatic/kafka";
import { Unsupported, byTopic, items, partitionOf } from "./loop.js";

/** All errors of a broker within one that the client threw. */
function brokerErrors(error) {
  if (typeof error?.apiCode === "number") return [error];
  return [...(error?.errors ?? []), error?.cause].filter(Boolean).flatMap(brokerErrors);
}

export function errorOf(error) {
  const [first = error] = brokerErrors(error);
  const found = { class: first.apiId ?? first.name, code: first.apiCode ?? null };
  found.text = `${error.message}: ${first.message}`;
  if (typeof first.canRetry === "boolean") found.retriable = first.canRetry;
  return found;
}

/** The answers that failed, however deep they are within the error. */
function responseErrors(error) {
  if (error?.response && error.errors?.some(({ path }) => path !== undefined)) return [error];
  return [...(error?.errors ?? []), error?.cause].filter(Boolean).flatMap(responseErrors);
}

/** What failed by its name: an error has its path within the answer, such as /topics/0. */
function failuresOf(error) {
  const found = new Map();
  for (const { response, errors } of responseErrors(error)) {
    for (const failure of errors) {
      const steps = (failure.path ?? "").split("/").filter(Boolean);
      const row = steps.reduce((at, step) => at?.[step], response);
      const name = row?.name ?? row?.groupId ?? row?.resourceName ?? row?.topicName;
      if (name !== undefined) found.set(name, failure);
      else if (/results?\/\d+$/.test(failure.path)) found.set(steps.at(-1), failure);
    }
  }
  return found;
}

/** What came of a change of several things, of which the client throws all errors together. */
async function each(names, work) {
  const failures = await work.then(
    () => new Map(),
    (error) => {
      const found = failuresOf(error);
      if (found.size === 0) throw error;
      return found;
    },
  );
  const outcome = (name) => {
    if (failures.has(name)) throw failures.get(name);
  };
  return items(names, outcome, errorOf);
}

/** A word of the contract as the client's own number; it does not know all of them. */
function numberOf(names, name) {
  if (!(name in names)) throw new Unsupported();
  return names[name];
}
const nameOf = (names, number) =>
  Object.keys(names).find((name) => names[name] === number) ?? "UNKNOWN";

const wire = (acl) => ({
  resourceType: numberOf(ResourceTypes, acl.resource_type),
  resourceName: acl.name,
  resourcePatternType: numberOf(ResourcePatternTypes, acl.pattern_type),
  principal: acl.principal,
  host: acl.host,
  operation: numberOf(AclOperations, acl.operation),
  permissionType: numberOf(AclPermissionTypes, acl.permission),
});
const plain = (at, acl) => ({
  resource_type: nameOf(ResourceTypes, at.resourceType),
  name: at.resourceName,
  pattern_type: nameOf(ResourcePatternTypes, at.resourcePatternType),
  principal: acl.principal,
  host: acl.host,
  operation: nameOf(AclOperations, acl.operation),
  permission: nameOf(AclPermissionTypes, acl.permissionType),
});

/** The commands that a class of clients with an admin client has. */
export class AdminCommands {
  async create_topics({ topics, configs = {} }) {
    const names = Object.keys(topics);
    const settings = Object.entries(configs).map(([name, value]) => ({ name, value }));
    const counts = new Set(Object.values(topics));
    const calls = [...counts].map((partitions) => {
      const wanted = names.filter((name) => topics[name] === partitions);
      return this._admin().createTopics({ topics: wanted, partitions, replicas: 1, configs: settings });
    });
    return each(names, Promise.all(calls));
  }

  async delete_topics({ names }) {
    return each(names, this._admin().deleteTopics({ topics: names }));
  }

  async create_partitions({ topics }) {
    const wanted = Object.entries(topics).map(([name, count]) => ({ name, count, assignments: null }));
    return each(Object.keys(topics), this._admin().createPartitions({ topics: wanted }));
  }

  async list_topics() {
    return { topics: await this._admin().listTopics() };
  }

  async describe_topics({ names, operations }) {
    if (operations) throw new Unsupported();
    const { topics } = await this._admin().metadata({ topics: names, forceUpdate: true });
    const shown = (name) => ({ operations: null, partitions: topics.get(name).partitionsCount });
    return items(names, shown, errorOf);
  }

  async describe_cluster({ operations }) {
    if (operations) throw new Unsupported();
    const { brokers } = await this._admin().metadata({ topics: [], forceUpdate: true });
    return { operations: null, brokers: [...brokers.keys()] };
  }

  async describe_configs({ type, names }) {
    const resourceType = numberOf(ConfigResourceTypes, type.toUpperCase());
    const resources = names.map((resourceName) => ({ resourceType, resourceName }));
    const told = await this._admin().describeConfigs({ resources });
    const settings = (name) => {
      const { configs } = told.find(({ resourceName }) => resourceName === name);
      return { settings: Object.fromEntries(configs.map((row) => [row.name, row.value])) };
    };
    return items(names, settings, errorOf);
  }

  async alter_configs({ type, names, setting, value }) {
    const resourceType = numberOf(ConfigResourceTypes, type.toUpperCase());
    const configOperation = IncrementalAlterConfigOperationTypes.SET;
    const configs = [{ name: setting, value, configOperation }];
    const resources = names.map((resourceName) => ({ resourceType, resourceName, configs }));
    return each(names, this._admin().incrementalAlterConfigs({ resources }));
  }

  async list_offsets({ partitions }) {
    const timestamp = ListOffsetTimestamps.LATEST;
    const topics = [...byTopic(partitions)].map(([name, numbers]) => ({
      name,
      partitions: numbers.map((partitionIndex) => ({ partitionIndex, timestamp })),
    }));
    const told = await this._admin().listOffsets({ topics });
    const latest = (name) => {
      const { topic, partition } = partitionOf(name);
      const rows = told.find((row) => row.name === topic).partitions;
      return { offset: Number(rows.find((row) => row.partitionIndex === partition).offset) };
    };
    return items(partitions, latest, errorOf);
  }

  async delete_records({ topic, partition, before }) {
    const partitions = [{ partition, offset: BigInt(before) }];
    await this._admin().deleteRecords({ topics: [{ name: topic, partitions }] });
  }

  async create_acls({ acls }) {
    return each(Object.keys(acls), this._admin().createAcls({ creations: acls.map(wire) }));
  }

  async describe_acls({ filter }) {
    const resources = await this._admin().describeAcls({ filter: wire(filter) });
    return { acls: resources.flatMap((at) => at.acls.map((acl) => plain(at, acl))) };
  }

  /** Of several filters the client does not say what matched which. */
  async delete_acls({ filters }) {
    if (filters.length > 1) throw new Unsupported();
    const deleted = async (number) => {
      const acls = await this._admin().deleteAcls({ filters: [wire(filters[number])] });
      return { acls: acls.map((acl) => plain(acl, acl)) };
    };
    return items(Object.keys(filters), deleted, errorOf);
  }

  async list_groups() {
    return { groups: [...(await this._admin().listGroups({})).keys()] };
  }

  async describe_groups({ names, operations }) {
    if (operations) throw new Unsupported(); // it hands out a number of bits
    const found = await this._admin().describeGroups({ groups: names });
    const shown = (name) => ({ operations: null, members: found.get(name).members.size });
    return items(names, shown, errorOf);
  }

  async delete_groups({ names }) {
    return each(names, this._admin().deleteGroups({ groups: names }));
  }

  async group_offsets({ group, partitions }) {
    const topics = [...byTopic(partitions)].map(([name, partitionIndexes]) => ({
      name,
      partitionIndexes,
    }));
    const groups = [{ groupId: group, topics }];
    const [told] = await this._admin().listConsumerGroupOffsets({ groups });
    const offset = (name) => {
      const { topic, partition } = partitionOf(name);
      const rows = told.topics.find((row) => row.name === topic).partitions;
      const found = Number(rows.find((row) => row.partitionIndex === partition).committedOffset);
      return { offset: found < 0 ? null : found };
    };
    return items(partitions, offset, errorOf);
  }

  async alter_group_offsets({ group, topic, partition, offset }) {
    const partitionOffsets = [{ partition, offset: BigInt(offset) }];
    const topics = [{ name: topic, partitionOffsets }];
    await this._admin().alterConsumerGroupOffsets({ groupId: group, topics });
  }

  async delete_group_offsets({ group, partitions }) {
    const topics = [...byTopic(partitions)].map(([name, partitionIndexes]) => ({
      name,
      partitionIndexes,
    }));
    await this._admin().deleteConsumerGroupOffsets({ groupId: group, topics });
    return items(partitions, () => {}, errorOf);
  }
}
