"use strict";
// Kafka brokers for tests: `const broker = await start({ users: { alice: "secret" } })`.
const { Broker } = require("./broker.js");
const { controlUrl } = require("./process.js");

/** Start a broker. All brokers of this process share one kafka-shim process, so it takes milliseconds. */
exports.start = async (options = {}) => Broker.create(await controlUrl(), options);
exports.Broker = Broker;
