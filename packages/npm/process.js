"use strict";
// One kafka-shim process, in which brokers are created over HTTP.
const { spawn } = require("node:child_process");
const { createInterface } = require("node:readline");
const { findCommand, startError } = require("./command.js");

const SERVE = ["serve", "--listener", "PLAINTEXT://127.0.0.1:0", "--control", "127.0.0.1:0"];
const OPTIONS = ["--log-level", "warn", "--stop-with-stdin"];
let started; // a promise of the URL of the control API

/** Return the URL of the control API of `kafka-shim run`, or of a process that ends with this one. */
exports.controlUrl = async () => {
  if (process.env.KAFKA_SHIM_CONTROL_URL) return process.env.KAFKA_SHIM_CONTROL_URL;
  started ??= start().catch((error) => {
    started = undefined; // the next call tries again
    throw error;
  });
  return started;
};

/** Send a request to a control API and return the response's JSON; throw an Error that says what was wrong. */
exports.call = async (url, method, path, body, token = process.env.KAFKA_SHIM_CONTROL_TOKEN) => {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const options = { method, headers, body: body === undefined ? undefined : JSON.stringify(body) };
  const response = await fetch(url + path, options);
  const text = await response.text();
  if (response.ok) return reported(JSON.parse(text));
  let reason = text;
  try {
    reason = JSON.parse(text).error;
  } catch {} // not JSON: shown as it is
  throw new Error(`kafka-shim: ${method} ${path}: ${reason} (status ${response.status})`);
};

/** Print what a test has set up without effect; throw an Error if a fault had to fire. */
function reported(body) {
  for (const warning of body.warnings ?? []) console.warn(`kafka-shim: ${warning}`);
  if (body.failures?.length) throw new Error(`kafka-shim: ${body.failures.join("\n")}`);
  return body;
}

async function start() {
  const command = findCommand();
  // settings of brokers in the environment, such as KAFKA_NUM_PARTITIONS, are for other brokers
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("KAFKA_"));
  const child = spawn(command, [...SERVE, ...OPTIONS], {
    stdio: ["pipe", "pipe", "inherit"],
    env: Object.fromEntries(inherited),
  });
  const failed = new Promise((_, reject) => {
    child.once("error", (error) => reject(startError(command, error)));
    child.once("exit", (code) => reject(new Error(`${command} ended with exit code ${code}`)));
  });
  failed.catch(() => {}); // after the start nobody waits for it
  const url = await Promise.race([urlWhenReady(child.stdout), failed]);
  // so that the tests can end; the process stops when its standard input is closed
  for (const handle of [child, child.stdin, child.stdout]) handle.unref();
  return url;
}

async function urlWhenReady(output) {
  let url;
  for await (const line of createInterface({ input: output })) {
    if (line.startsWith("control on ")) url = line.slice("control on ".length);
    if (line.startsWith("[KafkaServer")) return url;
  }
  return new Promise(() => {}); // the process ended: `failed` says why
}
