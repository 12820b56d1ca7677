import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/build.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Two cores: more workers would only wait for each other.
    maxWorkers: 2,
  },
});
