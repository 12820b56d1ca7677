import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/build.ts"],
    // Bounds on waiting for what never comes; a slow machine is far below them.
    testTimeout: 180_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // Most of the time of a file would go into loading the same modules again. A test that
    // registers something for its process takes it back.
    isolate: false,
    // Two cores, and tests of faults and limits that mostly wait.
    maxWorkers: 5,
  },
});
