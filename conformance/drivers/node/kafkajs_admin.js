// What kafkajs's admin client does for the driver, and how the driver reports its errors.
import kafkajs from "kafkajs";
import { Unsupported, byTopic, items, partitionOf } from "./loop.js";

const { ConfigResourceTypes, ResourcePatternTypes } = kafkajs;
const { AclOperationTypes, AclPermissionTypes, AclResourceTypes } = kafkajs;
const TOPIC_ALREADY_EXISTS = 36;

/** The error with Kafka's code, however deeply it is wrapped; one of the client's own has none. */
export function errorOf(error) {
  let cause = error.errors?.[0] ?? error.groups?.[0]?.error ?? error;
  while (typeof cause.code !== "number" && cause.cause instanceof Error) cause = cause.cause;
  const found = { class: cause.name, code: null, text: String(error.message) };
  if (typeof cause.code === "number") found.code = cause.code;
  if (typeof error.retriable === "boolean") found.retriable = error.retriable;
  return found;
}

/** A word of the contract as the client's own number; it does not know all of them. */
function numberOf(names, name) {
  if (!(name in names)) throw new Unsupported();
  return names[name];
}
const nameOf = (names, number) =>
  Object.keys(names).find((name) => names[name] === number) ?? "UNKNOWN";

const wire = (acl) => ({
  resourceType: numberOf(AclResourceTypes, acl.resource_type),
  resourceName: acl.name ?? undefined,
  resourcePatternType: numberOf(ResourcePatternTypes, acl.pattern_type),
  principal: acl.principal ?? undefined,
  host: acl.host ?? undefined,
  operation: numberOf(AclOperationTypes, acl.operation),
  permissionType: numberOf(AclPermissionTypes, acl.permission),
});
const plain = (resourceType, name, patternType, acl) => ({
  resource_type: nameOf(AclResourceTypes, resourceType),
  name,
  pattern_type: nameOf(ResourcePatternTypes, patternType),
  principal: acl.principal,
  host: acl.host,
  operation: nameOf(AclOperationTypes, acl.operation),
  permission: nameOf(AclPermissionTypes, acl.permissionType),
});

/** The commands that a class of clients with an admin client has. */
export class AdminCommands {
  async create_topics({ topics, configs = {} }) {
    const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }));
    const wanted = Object.entries(topics).map(([topic, numPartitions]) => {
      return { topic, numPartitions, replicationFactor: 1, configEntries };
    });
    const admin = await this._admin();
    const made = await admin.createTopics({ topics: wanted }).then(
      (areNew) => ({ areNew, failed: [] }),
      (error) => {
        if (!error.errors) throw error;
        return { failed: error.errors };
      },
    );
    const outcome = (name) => {
      const error = made.failed.find(({ topic }) => topic === name);
      if (error) throw error;
      // the client's word for a topic that exists; of several it does not say which
      if (made.areNew === false && wanted.length === 1) {
        throw Object.assign(new Error("false"), { code: TOPIC_ALREADY_EXISTS });
      }
    };
    return items(Object.keys(topics), outcome, errorOf);
  }

  async delete_topics({ names }) {
    await (await this._admin()).deleteTopics({ topics: names });
    return items(names, () => {}, errorOf);
  }

  async create_partitions({ topics }) {
    const topicPartitions = Object.entries(topics).map(([topic, count]) => ({ topic, count }));
    await (await this._admin()).createPartitions({ topicPartitions });
    return items(Object.keys(topics), () => {}, errorOf);
  }

  async list_topics() {
    return { topics: await (await this._admin()).listTopics() };
  }

  async describe_topics({ names, operations }) {
    if (operations) throw new Unsupported();
    const { topics } = await (await this._admin()).fetchTopicMetadata({ topics: names });
    const shown = (name) => {
      const { partitions } = topics.find((topic) => topic.name === name);
      return { operations: null, partitions: partitions.length };
    };
    return items(names, shown, errorOf);
  }

  async describe_cluster({ operations }) {
    if (operations) throw new Unsupported();
    const { brokers } = await (await this._admin()).describeCluster();
    return { operations: null, brokers: brokers.map(({ nodeId }) => nodeId) };
  }

  async describe_configs({ type, names }) {
    const kind = numberOf(ConfigResourceTypes, type.toUpperCase());
    const asked = names.map((name) => ({ type: kind, name }));
    const told = await (
      await this._admin()
    ).describeConfigs({ resources: asked, includeSynonyms: false });
    const settings = (name) => {
      const { configEntries } = told.resources.find(({ resourceName }) => resourceName === name);
      return {
        settings: Object.fromEntries(configEntries.map((row) => [row.configName, row.configValue])),
      };
    };
    return items(names, settings, errorOf);
  }

  list_offsets({ partitions }) {
    const latest = async (name) => {
      const { topic, partition } = partitionOf(name);
      const rows = await (await this._admin()).fetchTopicOffsets(topic);
      return { offset: Number(rows.find((row) => row.partition === partition).offset) };
    };
    return items(partitions, latest, errorOf);
  }

  async delete_records({ topic, partition, before }) {
    const partitions = [{ partition, offset: String(before) }];
    await (await this._admin()).deleteTopicRecords({ topic, partitions }).catch((error) => {
      throw error.partitions?.find((row) => row.error)?.error ?? error;
    });
  }

  async create_acls({ acls }) {
    await (await this._admin()).createAcls({ acl: acls.map(wire) });
    return items(Object.keys(acls), () => {}, errorOf);
  }

  async describe_acls({ filter }) {
    const { resources } = await (await this._admin()).describeAcls(wire(filter));
    const acls = resources.flatMap((at) =>
      at.acls.map((acl) => plain(at.resourceType, at.resourceName, at.resourcePatternType, acl)),
    );
    return { acls };
  }

  async delete_acls({ filters }) {
    const { filterResponses } = await (
      await this._admin()
    ).deleteAcls({ filters: filters.map(wire) });
    const deleted = (number) => ({
      acls: filterResponses[number].matchingAcls.map((acl) =>
        plain(acl.resourceType, acl.resourceName, acl.resourcePatternType, acl),
      ),
    });
    return items(Object.keys(filters), deleted, errorOf);
  }

  async list_groups() {
    const { groups } = await (await this._admin()).listGroups();
    return { groups: groups.map(({ groupId }) => groupId) };
  }

  async describe_groups({ names, operations }) {
    if (operations) throw new Unsupported();
    const { groups } = await (await this._admin()).describeGroups(names);
    const shown = (name) => {
      const { members } = groups.find(({ groupId }) => groupId === name);
      return { operations: null, members: members.length };
    };
    return items(names, shown, errorOf);
  }

  async delete_groups({ names }) {
    const admin = await this._admin();
    const failed = await admin.deleteGroups(names).then(
      () => [],
      (error) => error.groups ?? Promise.reject(error),
    );
    const outcome = (name) => {
      const group = failed.find(({ groupId }) => groupId === name);
      if (group) throw group.error;
    };
    return items(names, outcome, errorOf);
  }

  async group_offsets({ group, partitions }) {
    const topics = [...byTopic(partitions).keys()];
    const told = await (await this._admin()).fetchOffsets({ groupId: group, topics });
    const offset = (name) => {
      const { topic, partition } = partitionOf(name);
      const rows = told.find((row) => row.topic === topic).partitions;
      const found = Number(rows.find((row) => row.partition === partition).offset);
      return { offset: found < 0 ? null : found };
    };
    return items(partitions, offset, errorOf);
  }

  async alter_group_offsets({ group, topic, partition, offset }) {
    const partitions = [{ partition, offset: String(offset) }];
    await (await this._admin()).setOffsets({ groupId: group, topic, partitions });
  }
}
