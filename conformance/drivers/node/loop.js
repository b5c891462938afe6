// The loop of the drivers in JavaScript: one command a line in, one answer a line out.
// An Error in an answer becomes an `error` of the contract.
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const SECONDS = 9;
const RECOVERY = 2.5;

/** The client cannot do this. */
export class Unsupported extends Error {}

/**
 * Answers commands until standard input ends. `Client` is a class with a method for each command,
 * made with the fields of `open`; its other methods begin with `#` or `_`.
 */
export async function serve(name, version, capabilities, Client, errorOf) {
  const clients = new Map();
  const isCommand = (method) => !/^(constructor|_.*)$/.test(method);
  const commands = methodsOf(Client.prototype).filter(isCommand);
  const hello = { name, version, commands: [...commands, "open"], capabilities };
  const knowsOperations = capabilities.includes("authorized-operations");
  const run = async ({ command, client, ...fields }) => {
    if (command === "hello") return hello;
    if (command === "open") clients.set(client, new Client(fields));
    else if (!commands.includes(command)) throw new Unsupported();
    else if (fields.operations && !knowsOperations) throw new Unsupported();
    else return inTime(clients.get(client)[command](fields), fields.seconds);
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, ...asked } = JSON.parse(line);
    const answer = { id };
    try {
      answer.ok = (await run(asked)) ?? {};
    } catch (error) {
      if (error instanceof Unsupported) answer.unsupported = true;
      else answer.error = error;
    }
    process.stdout.write(JSON.stringify(answer, errorsBy(errorOf)) + "\n");
  }
  process.exit(0);
}

function methodsOf(prototype) {
  if (prototype === Object.prototype) return [];
  return [...Object.getOwnPropertyNames(prototype), ...methodsOf(Object.getPrototypeOf(prototype))];
}

/** Replaces errors within an answer; `value` may have been converted by a `toJSON` already. */
function errorsBy(errorOf) {
  return function (key, value) {
    return this[key] instanceof Error ? errorOf(this[key]) : value;
  };
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

/** What came of each of several things: an object, or an error, returned or thrown. */
export async function items(names, outcome) {
  const found = {};
  for (const name of names) {
    try {
      found[name] = (await outcome(name)) ?? {};
    } catch (error) {
      if (error instanceof Unsupported) throw error;
      found[name] = error;
    }
  }
  return { items: found };
}

/**
 * What came of each of several things, which one call does; of the error that it throws,
 * `failuresOf` returns pairs of names and errors.
 */
export async function each(names, work, failuresOf = () => []) {
  let failures = new Map();
  try {
    await work;
  } catch (error) {
    failures = new Map(failuresOf(error));
    if (failures.size === 0) throw error;
  }
  return items(names, (name) => failures.get(name));
}

export function partitionOf(text) {
  const at = text.lastIndexOf("-");
  return { topic: text.slice(0, at), partition: Number(text.slice(at + 1)) };
}

/** What `form` makes of each topic in `topic-partition` texts, and of its numbers. */
export function byTopic(texts, form) {
  const found = new Map();
  for (const { topic, partition } of texts.map(partitionOf)) {
    found.set(topic, [...(found.get(topic) ?? []), partition]);
  }
  return [...found].map(([topic, numbers]) => form(topic, numbers));
}

/** The options that have a value. */
export function given(options) {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value != null));
}

/** A committed offset; clients return a negative one if there is none. */
export function offsetOrNull(offset) {
  return { offset: Number(offset) < 0 ? null : Number(offset) };
}

/** A word of the contract as the client's own number; it does not know all of them. */
export function numberOf(numbers, word) {
  if (!(word in numbers)) throw new Unsupported();
  return numbers[word];
}

/** How a client with these numbers for the words writes ACLs, and what it has in place of null. */
export function aclForms(resources, patterns, operations, permissions, absent) {
  const wordOf = (numbers, number) =>
    Object.keys(numbers).find((word) => numbers[word] === number) ?? "UNKNOWN";
  const wire = (acl) => ({
    resourceType: numberOf(resources, acl.resource_type),
    resourceName: acl.name ?? absent,
    resourcePatternType: numberOf(patterns, acl.pattern_type),
    principal: acl.principal ?? absent,
    host: acl.host ?? absent,
    operation: numberOf(operations, acl.operation),
    permissionType: numberOf(permissions, acl.permission),
  });
  const plain = (at, acl = at) => ({
    resource_type: wordOf(resources, at.resourceType),
    name: at.resourceName,
    pattern_type: wordOf(patterns, at.resourcePatternType),
    principal: acl.principal,
    host: acl.host,
    operation: wordOf(operations, acl.operation),
    permission: wordOf(permissions, acl.permissionType),
  });
  return { wire, plain };
}

/** The version of a package that is installed beside the drivers. */
export function versionOf(name) {
  const path = new URL(`node_modules/${name}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(path)).version;
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

  async wait(wanted, seconds) {
    const index = () => this.#events.findIndex((event) => wanted.includes(event));
    await this.#until(() => index() >= 0, seconds);
    if (index() < 0) return { event: null };
    const event = this.#events[index()];
    this.#events.splice(0, index() + 1);
    return event === "error" ? { event, error: this.#error } : { event };
  }
}

/** The commands of a client whose consumer runs by itself: `_run` begins to read topics. */
export class RunningClient {
  _inbox = new Inbox();
  _transaction = null;
  #topics = "";
  #positions = new Map(); // of what was read, by `topic-partition`

  wait({ events, seconds }) {
    return this._inbox.wait(events, seconds);
  }

  async consume({ topics, count, seconds }) {
    if (this.#topics !== String(topics)) {
      this.#topics = String(topics);
      this._run(topics).catch((error) => this._stopped(error));
    }
    return this._inbox.take(count, seconds);
  }

  /** A value was read; `next` is the offset after it. */
  _read(value, topic, partition, next) {
    this.#positions.set(`${topic}-${partition}`, { topic, partition, offset: next });
    this._inbox.read(value.toString());
  }

  /** The consumer has ended: the next `consume` begins to read anew. */
  _stopped(error) {
    this.#topics = "";
    this._inbox.failed(error);
  }

  _positions() {
    return [...this.#positions.values()];
  }

  async commit() {
    await this.#end().commit();
  }

  async abort() {
    await this.#end().abort();
  }

  #end() {
    const transaction = this._transaction;
    this._transaction = null;
    return transaction;
  }
}
