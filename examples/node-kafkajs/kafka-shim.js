// Brokers for tests: one kafka-shim process for a run, and a broker of its own for each test file.
// Copy this file. It uses the process of `kafka-shim run`, if there is one, or else starts one with
// the command in KAFKA_SHIM (default: kafka-shim on the PATH), which ends with this process.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const SERVE = ["serve", "--listener", "PLAINTEXT://127.0.0.1:0", "--control", "127.0.0.1:0"];
let control; // a promise of the URL of the control API

export class Broker {
  constructor({ id, path, bootstrap_servers: servers }) {
    this.id = id;
    this.path = path;
    this.servers = servers; // "host:port,..." by listener: PLAINTEXT, SASL_PLAINTEXT
  }

  /** Create a broker; the settings are the body of POST /brokers: users, topics, acls ... */
  static async create(settings = {}) {
    return new Broker(await ask("POST", "/brokers", settings));
  }

  /** Return kafkajs settings for this user, or for a client that does not log in and may do all. */
  settings(username, password) {
    if (username === undefined) return { brokers: this.servers.PLAINTEXT.split(",") };
    const sasl = { mechanism: "plain", username, password };
    return { brokers: this.servers.SASL_PLAINTEXT.split(","), sasl };
  }

  /** Call the control API of this broker: `get("/topics")`. */
  get(path) {
    return ask("GET", this.path + path);
  }

  post(path, body = null) {
    return ask("POST", this.path + path, body);
  }

  /** Go back to the state in which it was created. */
  reset() {
    return this.post("/reset");
  }

  remove() {
    return ask("DELETE", this.path);
  }
}

async function ask(method, path, body) {
  control ??= process.env.KAFKA_SHIM_CONTROL_URL ?? start();
  const options = { method, body: body === undefined ? undefined : JSON.stringify(body) };
  const response = await fetch((await control) + path, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${answer.error}`);
  return answer;
}

/** Start a process and wait until it is ready. It stops when its standard input is closed. */
async function start() {
  const command = process.env.KAFKA_SHIM ?? "kafka-shim";
  const options = [...SERVE, "--log-level", "warn", "--stop-with-stdin"];
  const child = spawn(command, options, { stdio: ["pipe", "pipe", "inherit"] });
  const failed = new Promise((_, reject) => {
    child.once("error", (error) => reject(new Error(`cannot start ${command}: ${error.message}`)));
    child.once("exit", (code) => reject(new Error(`${command} ended with exit code ${code}`)));
  });
  const url = await Promise.race([ready(child.stdout), failed]);
  for (const handle of [child, child.stdin, child.stdout]) handle.unref(); // so that the tests can end
  return url;
}

/** Return the URL that the process prints before it says that it has started. */
async function ready(output) {
  let url;
  for await (const line of createInterface({ input: output })) {
    if (line.startsWith("control on ")) url = line.slice("control on ".length);
    if (line.startsWith("[KafkaServer")) return url;
  }
  return new Promise(() => {}); // the process ended: `failed` says why
}
