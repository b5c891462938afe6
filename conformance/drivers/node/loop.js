// The loop of the JavaScript drivers: reads commands and writes answers, one line of JSON each.
// An Error in an answer becomes an `error` of the contract.
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const SECONDS = 9;
const RECOVERY = 2.5;

/** The client does not support the command. */
export class Unsupported extends Error {}

/**
 * Answers commands until standard input ends. `Client` is a class with a method for each command;
 * its constructor gets the fields of `open`. Other methods begin with `#` or `_`.
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

/** Replaces errors in an answer; reads `this[key]`, since a `toJSON` may have converted `value`. */
function errorsBy(errorOf) {
  return function (key, value) {
    return this[key] instanceof Error ? errorOf(this[key]) : value;
  };
}

/** Throws an error if the client neither completes nor fails in time. */
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

/** Returns items: for each name the result of `outcome`, or the error that it returns or throws. */
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
 * Returns the items of a single call about several names. `failuresOf` splits the error that the
 * call throws into pairs of names and errors.
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

/** Groups `topic-partition` texts by topic; returns `form(topic, numbers)` for each topic. */
export function byTopic(texts, form) {
  const found = new Map();
  for (const { topic, partition } of texts.map(partitionOf)) {
    found.set(topic, [...(found.get(topic) ?? []), partition]);
  }
  return [...found].map(([topic, numbers]) => form(topic, numbers));
}

/** Returns the options that have a value. */
export function given(options) {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value != null));
}

/** Returns a committed offset, or null for a negative one, which means that none is committed. */
export function offsetOrNull(offset) {
  return { offset: Number(offset) < 0 ? null : Number(offset) };
}

/** Returns the client's number for a name of the contract, if it has one. */
export function numberOf(numbers, word) {
  if (!(word in numbers)) throw new Unsupported();
  return numbers[word];
}

/** Returns converters of ACLs; `absent` is the client's value in place of null. */
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

/** Returns the version of a package that is installed beside the drivers. */
export function versionOf(name) {
  const path = new URL(`node_modules/${name}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(path)).version;
}

/** Returns the options of `tls.connect`. */
export function tlsOf({ ca, certificate, key }) {
  const read = (path) => (path ? readFileSync(path) : undefined);
  return { ca: read(ca), cert: read(certificate), key: read(key) };
}

/** The values and events of a consumer in the background. */
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
    // a consumer may recover after an error
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

/** The commands of a client whose consumer runs in the background: `_run` begins to read topics. */
export class RunningClient {
  _inbox = new Inbox();
  _transaction = null;
  #topics = "";
  #positions = new Map(); // offsets after the values read, by `topic-partition`

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

  /** Keeps a value that was read; `next` is the offset after it. */
  _read(value, topic, partition, next) {
    this.#positions.set(`${topic}-${partition}`, { topic, partition, offset: next });
    this._inbox.read(value.toString());
  }

  /** Keeps the error of a consumer that has ended; the next `consume` begins again. */
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
