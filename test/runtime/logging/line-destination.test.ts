import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../support/workspace.ts";

const module = join(ROOT, "src/runtime/logging/line-destination.ts");

const OPTIONS = { maxBuffer: 16 * 1024 * 1024 };

const run = (body: string, shell?: string) => {
  const script = `import { createLineDestination } from ${JSON.stringify(module)};
const log = createLineDestination();
${body}`;
  const args = ["--input-type=module", "-e", script];
  return shell === undefined
    ? spawnSync(process.execPath, args, OPTIONS)
    : spawnSync("sh", ["-c", shell, "sh", process.execPath, ...args], OPTIONS);
};

test.each([
  ["the event loop is empty", ""],
  ["the process exits", "process.exit(0);"],
  ["an error is thrown", "throw new Error('x');"],
])("lines are written when %s", (_, end) => {
  const { stdout } = run(`log.write("one\\n"); log.write("two\\n"); ${end}`);
  expect(stdout.toString()).toBe("one\ntwo\n");
});

test("many lines arrive complete and in order at a slow reader", () => {
  const body = `for (let i = 0; i < 20000; i++) log.write(String(i).padStart(99, "ä") + "\\n");`;
  const { stdout } = run(body, '"$@" | { sleep 1; cat; }');
  const lines = stdout.toString().trimEnd().split("\n");
  expect(lines).toHaveLength(20_000);
  expect(lines.at(-1)).toBe("19999".padStart(99, "ä"));
});

test("a closed pipe stops the log, not the process", () => {
  const body = `
for (let i = 0; i < 20; i++) { log.write("x\\n"); await new Promise((r) => setTimeout(r, 20)); }
process.stderr.write("done");`;
  const { stderr } = run(body, '"$@" | head -n 1');
  expect(stderr.toString()).toBe("done");
});

const LINES = 30_000;
const WRITE_MANY = `
for (let i = 0; i < ${LINES}; i++) {
  log.write(JSON.stringify({ i, text: "x".repeat(99) }) + "\\n");
  if (i % 300 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
}`;

test("a reader that does not read delays the service only once", () => {
  const body = `${WRITE_MANY}
process.stderr.write("service done, ");`;
  const { stderr } = run(body, '"$@" | { sleep 8; echo reader gone >&2; }');
  // Waiting for each write would take minutes, and a blocking write would end with the reader.
  expect(stderr.toString()).toBe("service done, reader gone\n");
});

test("a reader that reads again gets complete lines, and the number of missing ones", () => {
  const body = `${WRITE_MANY}
await new Promise((resolve) => setTimeout(resolve, 4000));
log.write(JSON.stringify({ i: "last" }) + "\\n");`;
  const { stdout } = run(body, '"$@" | { sleep 5; cat; }');
  const lines = stdout.toString().trimEnd().split("\n");
  const reported = lines.map((line) => JSON.parse(line) as { i?: number | "last"; lines?: number });
  const dropped = reported.reduce((sum, { lines: missing = 0 }) => sum + missing, 0);
  expect(dropped).toBeGreaterThan(0);
  const written = reported.filter(({ i }) => typeof i === "number");
  expect(written.length + dropped).toBe(LINES);
  expect(reported.at(-1)).toEqual({ i: "last" });
});
