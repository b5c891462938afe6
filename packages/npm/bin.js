#!/usr/bin/env node
"use strict";
// The command `kafka-shim`, so that scripts in package.json and npx find it.
const { spawn } = require("node:child_process");
const { findCommand, startError } = require("./command.js");

function run(command) {
  const child = spawn(command, process.argv.slice(2), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(startError(command, error)));
  child.on("exit", (code) => { process.exitCode = code ?? 1; });
}

function fail(error) {
  console.error(`kafka-shim: ${error.message}`);
  process.exitCode = 1;
}

try {
  run(findCommand());
} catch (error) {
  fail(error);
}
