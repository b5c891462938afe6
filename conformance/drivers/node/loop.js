// The loop of the drivers in JavaScript: one command a line in, one answer a line out.
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const SECONDS = 9;
const RECOVERY = 2.5;

/** The client cannot do this. */
export class Unsupported extends Error {}

/**
 * Answers commands until standard input ends. `Client` is a class with a method for each command,
 * made with the fields of `open`; what is not a command begins with `#` or `_`.
 */
export async function serve(name, version, capabilities, Client, errorOf) {
  const clients = new Map();
  const commands = methodsOf(Client.prototype);
  const run = async ({ command, client, ...fields }) => {
    if (command === "hello") return { name, version, commands: [...commands, "open"], capabilities };
    if (command === "open") clients.set(client, new Client(fields));
    else if (!commands.includes(command)) throw new Unsupported();
    else return inTime(clients.get(client)[command](fields), fields.seconds);
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, ...asked } = JSON.parse(line);
    const answer = { id };
    try {
      answer.ok = (await run(asked)) ?? {};
    } catch (error) {
      if (error instanceof Unsupported) answer.unsupported = true;
      else answer.error = errorOf(error);
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
  process.exit(0);
}

function methodsOf(prototype) {
  if (prototype === Object.prototype) return [];
  const own = Object.getOwnPropertyNames(prototype);
  const inherited = methodsOf(Object.getPrototypeOf(prototype));
  return [...own.filter((name) => !/^(constructor|_.*)$/.test(name)), ...inherited];
}

/** Gives up what a client neither does nor fails. */
async function inTime(work, seconds = 0) {
  const timer = new AbortController();
  const late = sleep((SECONDS + seconds) * 1000, null, { signal: timer.signal }).then(() => {
    throw new Error(`neither done nor failed after ${SECONDS + seconds} s`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
    late.catch(() => {});
  }
}

/** What came of each of several things: an object, or an error. */
export async function items(names, outcome, errorOf) {
  const found = {};
  for (const name of names) {
    try {
      found[name] = (await outcome(name)) ?? {};
    } catch (error) {
      if (error instanceof Unsupported) throw error;
      found[name] = errorOf(error);
    }
  }
  return { items: found };
}

export function partitionOf(text) {
  const at = text.lastIndexOf("-");
  return { topic: text.slice(0, at), partition: Number(text.slice(at + 1)) };
}

/** The partitions of `topic-partition` texts, by their topics. */
export function byTopic(texts) {
  const found = new Map();
  for (const { topic, partition } of texts.map(partitionOf)) {
    found.set(topic, [...(found.get(topic) ?? []), partition]);
  }
  return found;
}

/** What `tls.connect` takes. */
export function tlsOf({ ca, certificate, key }) {
  const read = (path) => (path ? readFileSync(path) : undefined);
  return { ca: read(ca), cert: read(certificate), key: read(key) };
}

/** What a consumer that runs by itself has read, and what happened to it. */
export class Inbox {
  #values = [];
  #events = [];
  #error = null;
  #wake = () => {};

  read(value) {
    this.#values.push(value);
    this.#wake();
  }

  happened(event) {
    this.#events.push(event);
    this.#wake();
  }

  failed(error) {
    this.#error = error;
    this.happened("error");
  }

  async #until(isDone, seconds) {
    const ends = Date.now() + seconds * 1000;
    while (!isDone() && Date.now() < ends) {
      const stop = new AbortController();
      const woken = new Promise((resolve) => (this.#wake = resolve));
      const late = sleep(ends - Date.now(), null, { signal: stop.signal }).catch(() => {});
      await Promise.race([woken, late]);
      stop.abort();
    }
  }

  async take(count, seconds) {
    const ends = Date.now() + seconds * 1000;
    await this.#until(() => this.#values.length >= count || this.#error, seconds);
    // a consumer may tell an error, and go on
    const left = Math.min((ends - Date.now()) / 1000, RECOVERY);
    await this.#until(() => this.#values.length >= count, left);
    if (this.#values.length >= count) this.#error = null;
    if (this.#error && this.#values.length === 0) {
      const error = this.#error;
      this.#error = null;
      throw error;
    }
    return { values: this.#values.splice(0, count) };
  }

  async wait(wanted, seconds, errorOf) {
    const index = () => this.#events.findIndex((event) => wanted.includes(event));
    await this.#until(() => index() >= 0, seconds);
    if (index() < 0) return { event: null };
    const event = this.#events[index()];
    this.#events.splice(0, index() + 1);
    return event === "error" ? { event, error: errorOf(this.#error) } : { event };
  }
}
