import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/build.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Two cores, and tests of faults and limits that mostly wait.
    maxWorkers: 3,
  },
});
