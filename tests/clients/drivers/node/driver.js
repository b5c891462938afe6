// The driver of kafkajs: reads calls and writes answers, one line of JSON each, as driver.py of the
// tests describes.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import kafkajs from "kafkajs";

const {
  Kafka,
  logLevel,
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  ResourcePatternTypes,
} = kafkajs;

/** Returns the client settings that depend on the log-in. */
function security(login) {
  if (login === null) return {};
  if (login.mechanism === "") {
    const identity = readFileSync(login.identity);
    return { ssl: { ca: [readFileSync(login.authority)], cert: identity, key: identity } };
  }
  const mechanism = login.mechanism.toLowerCase();
  if (mechanism === "oauthbearer") {
    const oauthBearerProvider = async () => ({ value: login.token });
    return { sasl: { mechanism, oauthBearerProvider } };
  }
  return { sasl: { mechanism, username: login.username, password: login.password } };
}

function kafka({ servers, login }) {
  return new Kafka({
    brokers: servers.split(","),
    logLevel: logLevel.NOTHING,
    retry: { retries: 2, initialRetryTime: 50 },
    ...security(login),
  });
}

async function asAdmin(request, work) {
  const admin = kafka(request).admin();
  await admin.connect();
  try {
    return await work(admin, request.arguments);
  } finally {
    await admin.disconnect();
  }
}

const createTopic = (request) =>
  asAdmin(request, async (admin, { topic }) => {
    await admin.createTopics({ topics: [{ topic, numPartitions: 1, replicationFactor: 1 }] });
    return null;
  });

const listTopics = (request) => asAdmin(request, (admin) => admin.listTopics());

/** Translates Kafka's names to the client's numbers, and back. */
const wire = (one) => ({
  resourceType: AclResourceTypes[one.resource_type],
  resourceName: one.name ?? undefined,
  resourcePatternType: ResourcePatternTypes[one.pattern_type],
  principal: one.principal ?? undefined,
  host: one.host ?? undefined,
  operation: AclOperationTypes[one.operation],
  permissionType: AclPermissionTypes[one.permission],
});
const nameIn = (names, number) => Object.keys(names).find((name) => names[name] === number);
const plain = (resourceType, name, patternType, one) => ({
  resource_type: nameIn(AclResourceTypes, resourceType),
  name,
  pattern_type: nameIn(ResourcePatternTypes, patternType),
  principal: one.principal,
  host: one.host,
  operation: nameIn(AclOperationTypes, one.operation),
  permission: nameIn(AclPermissionTypes, one.permissionType),
});

const createAcls = (request) =>
  asAdmin(request, async (admin, { acls }) => {
    await admin.createAcls({ acl: acls.map(wire) });
    return [];
  });

const listAcls = (request) =>
  asAdmin(request, async (admin, { filter }) => {
    const { resources } = await admin.describeAcls(wire(filter));
    return resources.flatMap((at) =>
      at.acls.map((one) => plain(at.resourceType, at.resourceName, at.resourcePatternType, one)),
    );
  });

const deleteAcls = (request) =>
  asAdmin(request, async (admin, { filters }) => {
    const { filterResponses } = await admin.deleteAcls({ filters: filters.map(wire) });
    return filterResponses.map(({ matchingAcls }) =>
      matchingAcls.map((one) =>
        plain(one.resourceType, one.resourceName, one.resourcePatternType, one),
      ),
    );
  });

async function produce(request) {
  const { topic, values, idempotent } = request.arguments;
  const producer = kafka(request).producer(idempotent === null ? {} : { idempotent });
  await producer.connect();
  try {
    const messages = values.map((value) => ({ value }));
    const [told] = await producer.send({ topic, messages });
    return values.map((_, index) => Number(told.baseOffset) + index);
  } finally {
    await producer.disconnect();
  }
}

async function produceTransaction(request) {
  const { topic, values, transactional_id: transactionalId } = request.arguments;
  // without `idempotent`, which would request a second producer id without a transaction
  const producer = kafka(request).producer({ transactionalId, maxInFlightRequests: 1 });
  await producer.connect();
  try {
    const transaction = await producer.transaction();
    await transaction.send({ topic, messages: values.map((value) => ({ value })) });
    await transaction.commit();
    return null;
  } finally {
    await producer.disconnect();
  }
}

async function consume(request) {
  const { topic, group, count, seconds } = request.arguments;
  const consumer = kafka(request).consumer({ groupId: group, maxWaitTimeInMs: 200 });
  await consumer.connect();
  try {
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    return await new Promise((resolve, reject) => {
      const values = new Map(); // by offset, since records with a failed commit are read again
      const late = () => reject(new Error(`${values.size} of ${count} values in time`));
      const timer = setTimeout(late, seconds * 1000);
      const crashed = ({ payload }) => payload.restart || reject(payload.error);
      consumer.on(consumer.events.CRASH, crashed);
      const eachMessage = async ({ message }) => {
        values.set(message.offset, message.value.toString());
        if (values.size === count) {
          clearTimeout(timer);
          resolve([...values.values()]);
        }
      };
      consumer.run({ eachMessage }).catch(reject);
    });
  } finally {
    await consumer.disconnect();
  }
}

/** Returns the Kafka error code that an error wraps; null for an error of the client itself. */
function failure(error) {
  let cause = error;
  while (cause.code === undefined && cause.cause instanceof Error) cause = cause.cause;
  const code = typeof cause.code === "number" ? cause.code : null;
  return { code, name: cause.name, text: String(cause.message) };
}

const calls = {
  create_topic: createTopic,
  list_topics: listTopics,
  create_acls: createAcls,
  list_acls: listAcls,
  delete_acls: deleteAcls,
  produce,
  produce_transaction: produceTransaction,
  consume,
};
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let answer;
  try {
    answer = { result: await calls[request.call](request) };
  } catch (error) {
    answer = { error: failure(error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
process.exit(0);
