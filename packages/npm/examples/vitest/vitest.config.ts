import { defineConfig } from "vitest/config";

// A test fails after 5 s by default, too early for a busy machine. kafkajs itself waits 30 s for a response.
export default defineConfig({ test: { globalSetup: "kafka-shim/global-setup", testTimeout: 60_000 } });
