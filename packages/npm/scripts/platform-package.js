"use strict";
// node scripts/platform-package.js PLATFORM BINARY FOLDER: write the npm package with the binary of a platform.
const fs = require("node:fs");
const path = require("node:path");
const { version, license, repository } = require("../package.json");

const [platform, binary, folder] = process.argv.slice(2);
const [os, cpu] = platform.split("-");
const name = os === "win32" ? "kafka-shim.exe" : "kafka-shim";
fs.mkdirSync(folder, { recursive: true });
fs.copyFileSync(binary, path.join(folder, name));
fs.chmodSync(path.join(folder, name), 0o755);
fs.writeFileSync(
  path.join(folder, "package.json"),
  JSON.stringify({
    name: `@kafka-shim/${platform}`,
    version,
    description: `The binary of kafka-shim for ${platform}.`,
    license,
    repository,
    os: [os],
    cpu: [cpu],
    ...(os === "linux" && { libc: ["glibc"] }),
    files: [name],
  }, null, 2),
);
