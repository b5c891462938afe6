// Brokers by themselves, without a Kafka client.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { start as startUntilStopped } from "kafka-shim";

const PACKAGE = join(import.meta.dirname, "..");

/** Start a broker that is stopped after the test. */
async function start(t, options) {
  const broker = await startUntilStopped(options);
  t.after(() => broker[Symbol.asyncDispose]());
  return broker;
}

const MAY_WRITE = { principal: "User:alice", allow: ["Write"], topic: "orders" };

test("every option of the API can be set, and an unknown one is an error", async (t) => {
  const broker = await start(t, { firstBrokerId: 7, clientTelemetry: true });
  const { nodes } = await broker.request("GET", "/nodes");
  assert.deepEqual(nodes.map((node) => node.node_id), [7]);
  await assert.rejects(start(t, { firstBrokerID: 7 }), /unknown key `first_broker_i_d`; did you mean/);
});

test("options become the state of the broker", async (t) => {
  const broker = await start(t, {
    kafkaVersion: "3.9",
    brokers: 2,
    users: { alice: "alice-secret" },
    topics: { myOrders: 3 },
    acls: [{ ...MAY_WRITE, principal: "alice" }],
    faults: [{ action: { delayMs: 1 }, match: { clientId: "x" }, trigger: { onCall: 3 } }],
  });
  const state = await broker.request("GET", "/state");
  assert.equal(state.release, "3.9");
  assert.deepEqual(state.users, ["alice"]);
  assert.deepEqual(state.super_users, ["User:ANONYMOUS"]);
  assert.equal(state.acls[0].operation, "WRITE");
  assert.equal(state.acls[0].principal, "User:alice");
  assert.equal(broker.bootstrapServers.split(",").length, 2);
  const [topic] = await broker.topics();
  assert.deepEqual([topic.name, topic.endOffsets], ["myOrders", [0, 0, 0]]);
  const [fault] = (await broker.request("GET", "/faults")).faults;
  assert.deepEqual(fault.action, { delay_ms: 1 });
  assert.deepEqual([fault.match, fault.trigger], [{ client_id: "x" }, { on_call: 3 }]);
});

test("what has no effect is printed", async (t) => {
  const printed = t.mock.method(console, "warn", () => {});
  const unknown = { ...MAY_WRITE, principal: "User:dora" };
  const broker = await startUntilStopped({ users: { alice: "a" }, acls: [unknown] });
  await broker.removeAcls(MAY_WRITE);
  await broker.addAcls({ principal: "User:ANONYMOUS", deny: "Write", topic: "orders" });
  await broker.addFault({ action: { delayMs: 1 }, match: { api: "Produce" } });
  await broker.stop();
  const text = printed.mock.calls.map((call) => call.arguments[0]).join("\n");
  assert.match(text, /`User:alice` for Write on Topic `orders` does not exist, so it was not removed/);
  assert.match(text, /User:ANONYMOUS is a super user/);
  assert.match(text, /`User:dora` for Write on Topic `orders` has no effect: there is no such user/);
  assert.match(text, /fault 1 \(delay_ms 1; api Produce\) never fired/);
});

test("a fault that must fire is an error if it never does, and one that cannot is rejected", async () => {
  const broker = await startUntilStopped({ topics: ["orders"] });
  const never = { action: { delayMs: 1 }, match: { api: "Heartbeat", topic: "orders" } };
  await assert.rejects(broker.addFault(never), /cannot fire/);
  const deny = { operation: "Write", resourceType: "topic", resourceName: "orders" };
  const id = await broker.addFault({ action: { deny }, match: { api: "Produce" } });
  const { action } = await broker.request("GET", `/faults/${id}`);
  assert.deepEqual(action.deny, { operation: "Write", resource_type: "topic", resource_name: "orders" });
  await broker.request("DELETE", `/faults/${id}`);
  await broker.addFault({ action: { delayMs: 1 }, match: { api: "Produce" }, mustFire: true });
  await assert.rejects(broker.stop(), /never fired/);
});

test("a reset returns to the state at the start", async (t) => {
  const broker = await start(t, { topics: ["orders"] });
  await broker.createTopic("payments", { partitions: 2, configs: { "cleanup.policy": "compact" } });
  assert.equal((await broker.topics()).length, 2);
  await broker.reset();
  assert.deepEqual((await broker.topics()).map(({ name }) => name), ["orders"]);
});

test("a number is the number of partitions, and anything else an error", async (t) => {
  const broker = await start(t);
  await broker.createTopic("orders", 2);
  await broker.createTopic("payments");
  await assert.rejects(broker.createTopic("refunds", "many"), /Expected `int`.*partitions/);
  const created = (await broker.topics()).map(({ name, partitions }) => [name, partitions]);
  assert.deepEqual(created, [["orders", 2], ["payments", 1]]);
});

test("ACLs are arguments or lists", async (t) => {
  const broker = await start(t);
  const acls = [MAY_WRITE, { ...MAY_WRITE, topic: "payments" }];
  const resources = async () => (await broker.request("GET", "/state")).acls.map((acl) => acl.resource_name);
  await broker.addAcls(acls, { ...MAY_WRITE, topic: "refunds" });
  assert.deepEqual((await resources()).sort(), ["orders", "payments", "refunds"]);
  await broker.removeAcls(acls);
  assert.deepEqual(await resources(), ["refunds"]);
});

test("clients' settings have the user's password", async (t) => {
  const broker = await start(t, { users: { alice: "alice-secret" } });
  await broker.addUser("bob", "bob-secret");
  const sasl = { mechanism: "plain", username: "bob", password: "bob-secret" };
  assert.deepEqual(broker.kafkajs("bob"), { brokers: [broker.listeners.SASL_PLAINTEXT], sasl });
  assert.equal(broker.librdkafka("alice")["sasl.password"], "alice-secret");
  assert.throws(() => broker.kafkajs("carol"), /unknown user carol/);
});

test("an invalid option is an error that says what is wrong", async () => {
  await assert.rejects(startUntilStopped({ kafkaVersion: "9.9" }), /POST \/brokers: .*9\.9.*status 400/);
  await assert.rejects(startUntilStopped({ topicss: ["orders"] }), /topicss/);
});

test("a stopped broker is gone", async () => {
  const broker = await startUntilStopped();
  await broker.stop();
  await assert.rejects(broker.topics(), /status 404/);
});

/** Let the broker deny DescribeAcls twice, by an old client without authentication. */
async function deny(broker) {
  const [host, port] = broker.bootstrapServers.split(":");
  // length, DescribeAcls v0, correlation id 1, no client id; any resource, principal, host, operation, permission
  const request = [0, 0, 0, 19, 0, 29, 0, 0, 0, 0, 0, 1, 255, 255, 1, 255, 255, 255, 255, 255, 255, 1, 1];
  for (let round = 0; round < 2; round++) {
    const socket = connect(Number(port), host);
    socket.write(Uint8Array.from(request));
    await once(socket, "data");
    socket.destroy();
  }
}

const RESTRICTED = { superUsers: [], kafkaVersion: "3.9" };
const DENIED = /User:ANONYMOUS was denied DESCRIBE on CLUSTER kafka-cluster \(DescribeAcls v0, 2 times\)/;

test("equal denials are one, and can be asserted", async (t) => {
  const broker = await start(t, RESTRICTED);
  assert.equal(await broker.report(), "the Kafka broker denied nothing");
  await deny(broker);
  const [denial, ...others] = await broker.denials();
  assert.deepEqual([denial.operation, denial.count, others], ["DESCRIBE", 2, []]);
  await broker.assertDenied("ANONYMOUS", "Describe", "cluster");
  await broker.assertDenied("User:ANONYMOUS", "Describe", "cluster");
  await assert.rejects(broker.assertDenied("alice", "Write", "topic:or:ders"), (error) => {
    assert.match(error.message, /User:alice was not denied WRITE on TOPIC or:ders;/);
    assert.match(error.message, DENIED);
    return true;
  });
});

test("a failed test prints denials", async (t) => {
  const printed = t.mock.method(console, "error", () => {});
  const contexts = [{ passed: false }, { task: { result: { state: "fail" } } }, { result: { state: "fail" } }];
  for (const context of [...contexts, undefined, { passed: true }, { task: { result: { state: "pass" } } }]) {
    const broker = await startUntilStopped(RESTRICTED);
    await deny(broker);
    await broker.stop(context);
  }
  const texts = printed.mock.calls.map((call) => call.arguments[0]);
  assert.equal(texts.length, 3);
  for (const text of texts) assert.match(text, DENIED);
});

test("node:test marks a failed test before its broker stops", () => {
  const code = `
    const { test } = require("node:test");
    for (const passes of [true, false]) test("x", (t) => {
      t.after(() => console.log("passed is", t.passed));
      if (!passes) throw new Error("failed");
    });`;
  const { stdout } = spawnSync(process.execPath, ["--test-reporter=spec", "-e", code], {
    encoding: "utf8", env: { ...process.env, NODE_TEST_CONTEXT: "" },
  });
  assert.match(stdout, /passed is true[^]*passed is false/);
});

test("a missing binary is an error that says what to do", () => {
  const code = 'require("kafka-shim").start().catch((error) => console.log(error.message))';
  const env = { ...process.env, KAFKA_SHIM_BINARY: "/missing/kafka-shim", KAFKA_SHIM_CONTROL_URL: "" };
  const { stdout } = spawnSync(process.execPath, ["-e", code], { env, encoding: "utf8" });
  assert.match(stdout, /^cannot start \/missing\/kafka-shim: .*set KAFKA_SHIM_BINARY/);
});

test("the binary is that of the platform's package; npm's own link is not started", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "kafka-shim-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const binary = join(folder, "binary");
  writeFileSync(binary, "#!/bin/sh\necho platform $1\n");
  const platform = `${process.platform}-${process.arch}`;
  const modules = join(folder, "node_modules");
  const run = () =>
    spawnSync("npx", ["--no-install", "kafka-shim", "word"], {
      cwd: folder, encoding: "utf8", timeout: 60_000,
      env: { ...process.env, KAFKA_SHIM_BINARY: "" },
    });
  execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: PACKAGE });
  writeFileSync(join(folder, "package.json"), "{}");
  const packed = join(folder, "kafka-shim-0.1.0.tgz");
  execFileSync("npm", ["install", "--silent", "--offline", "--omit=optional", packed], { cwd: folder });
  assert.match(run().stderr, new RegExp(`is missing: install @kafka-shim/${platform}`));
  execFileSync(process.execPath, [
    join(PACKAGE, "scripts/platform-package.js"), platform, binary, join(modules, "@kafka-shim", platform),
  ]);
  assert.equal(run().stdout, "platform word\n");
});
