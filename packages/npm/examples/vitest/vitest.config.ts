import { defineConfig } from "vitest/config";

export default defineConfig({ test: { globalSetup: "kafka-shim/global-setup" } });
