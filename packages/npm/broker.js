"use strict";
// A broker, and what tests do with it.
const { call } = require("./process.js");
const { camelCased, faultBody, snakeCased } = require("./names.js");

/** Who connects to PLAINTEXT may do everything, also if there are ACLs. */
const DEFAULTS = { super_users: ["User:ANONYMOUS"] };

class Broker {
  #url;
  #token;
  #passwords;

  constructor(url, token, row, users) {
    this.#url = url;
    this.#token = token;
    this.#passwords = { ...users };
    this.id = row.id;
    this.path = row.path;
    this.listeners = row.bootstrap_servers;
  }

  /** Create a broker in the process with this control API. */
  static async create(url, options, token) {
    const { faults = [], ...settings } = options;
    const all = { ...DEFAULTS, ...snakeCased(settings), faults: faults.map(faultBody) };
    return new Broker(url, token, await call(url, "POST", "/brokers", all, token), options.users);
  }

  get bootstrapServers() {
    return this.listeners.PLAINTEXT ?? Object.values(this.listeners)[0];
  }

  kafkajs(user) {
    if (user === undefined) return { brokers: this.bootstrapServers.split(",") };
    const sasl = { mechanism: "plain", username: user, password: this.#password(user) };
    return { brokers: this.#saslServers().split(","), sasl };
  }

  librdkafka(user) {
    if (user === undefined) return { "bootstrap.servers": this.bootstrapServers };
    return {
      "bootstrap.servers": this.#saslServers(),
      "security.protocol": "SASL_PLAINTEXT",
      "sasl.mechanism": "PLAIN",
      "sasl.username": user,
      "sasl.password": this.#password(user),
    };
  }

  #password(user) {
    if (Object.hasOwn(this.#passwords, user)) return this.#passwords[user];
    throw new Error(`unknown user ${user}: name it in the option users, or call addUser`);
  }

  #saslServers() {
    const servers = this.listeners.SASL_PLAINTEXT;
    if (servers === undefined) throw new Error("the broker has no listener SASL_PLAINTEXT");
    return servers;
  }

  request(method, path, body) {
    return call(this.#url, method, this.path + path, body, this.#token);
  }

  async createTopic(name, options = {}) {
    const settings = typeof options === "object" ? options : { partitions: options };
    await this.request("POST", "/topics", { name, ...snakeCased(settings) });
  }

  async topics() {
    return (await this.request("GET", "/topics")).topics.map(camelCased);
  }

  async records(topic, partition = 0) {
    const path = `/topics/${encodeURIComponent(topic)}/records?partition=${partition}`;
    return (await this.request("GET", path)).records.map(camelCased);
  }

  async addUser(name, password) {
    await this.request("POST", "/users", { name, password });
    this.#passwords[name] = password;
  }

  async addAcls(...acls) {
    await this.request("POST", "/acls", { acls: acls.flat() });
  }

  async removeAcls(...acls) {
    await this.request("POST", "/acls/remove", { acls: acls.flat() });
  }

  async addFault(fault) {
    return (await this.request("POST", "/faults", faultBody(fault))).id;
  }

  async fault(id) {
    return camelCased(await this.request("GET", `/faults/${id}`));
  }

  async denials() {
    return (await this.request("GET", "/denials")).denials.map(camelCased);
  }

  async assertDenied(principal, operation, resource) {
    const query = new URLSearchParams({ principal, operation, resource });
    const { denied, text } = await this.request("GET", `/denials/check?${query}`);
    if (!denied) throw new Error(text);
  }

  async report() {
    const { report } = await this.request("GET", "/denials");
    if (report.length === 0) return "the Kafka broker denied nothing";
    return report.map(({ title, text }) => `${title}:\n${text}`).join("\n");
  }

  async requests(filter = {}) {
    const query = new URLSearchParams(snakeCased(filter));
    return (await this.request("GET", `/requests?${query}`)).requests.map(camelCased);
  }

  async reset() {
    await this.request("POST", "/reset");
  }

  async stop(test) {
    const state = (test?.task ?? test)?.result?.state; // of Vitest; node:test has `passed`
    if (test?.passed === false || state === "fail") console.error(await this.report());
    await this.request("DELETE", "");
  }

  [Symbol.asyncDispose]() {
    return this.stop();
  }
}

exports.Broker = Broker;
