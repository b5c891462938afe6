"use strict";
// Where the command `kafka-shim` is.
const fs = require("node:fs");
const path = require("node:path");

/** The package with the binary for this machine, of which npm installs only the one that fits. */
const PLATFORM = `@kafka-shim/${process.platform}-${process.arch}`;
const ADVICE = `install ${PLATFORM}, or set KAFKA_SHIM_BINARY to the path of kafka-shim`;
const NAME = process.platform === "win32" ? "kafka-shim.exe" : "kafka-shim";

/**
 * Return the binary in KAFKA_SHIM_BINARY, else that of the platform's package, else that on the PATH.
 * Throw an Error if there is none.
 */
exports.findCommand = () => {
  if (process.env.KAFKA_SHIM_BINARY) return process.env.KAFKA_SHIM_BINARY;
  const command = platformBinary() ?? commandOnPath();
  if (command === undefined) throw new Error(`the command kafka-shim is missing: ${ADVICE}`);
  return command;
};

function platformBinary() {
  try {
    return path.join(path.dirname(require.resolve(`${PLATFORM}/package.json`)), NAME);
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    return undefined;
  }
}

/** Return the first on the PATH that is not bin.js, which npm's scripts have there and which would start itself. */
function commandOnPath() {
  const own = fs.realpathSync(path.join(__dirname, "bin.js"));
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter(Boolean);
  return folders
    .map((folder) => path.join(folder, NAME))
    .find((file) => fs.existsSync(file) && fs.realpathSync(file) !== own);
}

/** Return an error that says why the command did not start, and what to do. */
exports.startError = (command, error) =>
  new Error(`cannot start ${command}: ${error.message}; ${ADVICE}`, { cause: error });
