"use strict";
// For `globalSetup` of Jest and Vitest: one kafka-shim process for all test files of a run.
const { controlUrl } = require("./process.js");

/** Start the process, which ends with the test runner. */
module.exports = async () => {
  process.env.KAFKA_SHIM_CONTROL_URL = await controlUrl();
};
