"use strict";
// The image in Testcontainers. Clients connect to mapped ports, which are known only when the container
// runs, so the broker is created then, over the control API.
const { randomBytes } = require("node:crypto");
const { AbstractStartedContainer, GenericContainer, Wait } = require("testcontainers");
const { Broker } = require("./broker.js");

const IMAGE = "ghcr.io/kafka-shim/kafka-shim:0.1.0";
const CONTROL_PORT = 8082;
const LISTENERS = { PLAINTEXT: 9092, SASL_PLAINTEXT: 9093 };

class StartedKafkaShimContainer extends AbstractStartedContainer {
  constructor(container, broker) {
    super(container);
    this.broker = broker;
  }

  getBootstrapServers() {
    return this.broker.bootstrapServers;
  }
}

class KafkaShimContainer extends GenericContainer {
  #options = {};
  #token = randomBytes(16).toString("hex");

  constructor(image = IMAGE) {
    super(image);
    this.withExposedPorts(CONTROL_PORT, ...Object.values(LISTENERS));
    this.withCommand([
      "serve", "--listener", "PLAINTEXT://127.0.0.1:0",
      "--control", `0.0.0.0:${CONTROL_PORT}`, "--control-token", this.#token,
    ]);
    this.withWaitStrategy(Wait.forHttp("/health", CONTROL_PORT));
  }

  /** Set the options of `start`, such as users, topics and ACLs. */
  withOptions(options) {
    this.#options = { ...this.#options, ...options };
    return this;
  }

  async start() {
    const container = await super.start();
    try {
      return new StartedKafkaShimContainer(container, await this.#createBroker(container));
    } catch (error) {
      await container.stop();
      throw error;
    }
  }

  #createBroker(container) {
    const address = (port) => `${container.getHost()}:${container.getMappedPort(port)}`;
    const urls = (host) => Object.entries(LISTENERS).map(([name, port]) => `${name}://${host(port)}`);
    const options = {
      ...this.#options,
      listeners: urls((port) => `0.0.0.0:${port}`),
      properties: { ...this.#options.properties, "advertised.listeners": urls(address).join(",") },
    };
    return Broker.create(`http://${address(CONTROL_PORT)}`, options, this.#token);
  }
}

exports.KafkaShimContainer = KafkaShimContainer;
exports.StartedKafkaShimContainer = StartedKafkaShimContainer;
