import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../support/workspace.ts";

const module = join(ROOT, "src/runtime/operation/line-destination.ts");

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

test("many lines arrive whole and in order at a slow reader", () => {
  const body = `for (let i = 0; i < 20000; i++) log.write(String(i).padStart(99, "ä") + "\\n");`;
  const { stdout } = run(body, '"$@" | { sleep 1; cat; }');
  const lines = stdout.toString().trimEnd().split("\n");
  expect(lines).toHaveLength(20_000);
  expect(lines.at(-1)).toBe("19999".padStart(99, "ä"));
});

test("a reader that has gone stops the log, not the process", () => {
  const body = `
for (let i = 0; i < 20; i++) { log.write("x\\n"); await new Promise((r) => setTimeout(r, 20)); }
process.stderr.write("done");`;
  const { stderr } = run(body, '"$@" | head -n 1');
  expect(stderr.toString()).toBe("done");
});
