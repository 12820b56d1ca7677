/** A wait that fails says what it waited for. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";
import { expect, test } from "vitest";
import { ROOT } from "../support/workspace.ts";

const FOLDERS = ["test/**/*.ts", "services/*/test/**/*.ts"];
const FILES = globSync(FOLDERS, { cwd: ROOT, exclude: (name) => name === "gen" }).sort();

test("each poll names what it waits for", () => {
  const polls = FILES.flatMap((file) => pollsOf(readFileSync(join(ROOT, file), "utf8"), file));
  expect(polls.length).toBeGreaterThan(100);
  expect(polls.filter(({ isNamed }) => !isNamed).map(({ place }) => place)).toEqual([]);
});

/** Sleeps that stay, by file: how many, and why no event tells that the time is over. */
const SLEEPS: Readonly<Record<string, readonly [number, string]>> = {
  "services/iam/test/resilience/mixed-load.ts": [1, "a call is tried again after a moment"],
  "services/iam/test/resilience/person.ts": [1, "a person tries again after a moment"],
  "services/iam/test/resilience/soak.test.ts": [1, "a service runs for minutes"],
  "test/authz/engine-lost-store.test.ts": [1, "a turn of the event loop"],
  "test/authz/engine-on-postgres.test.ts": [1, "load pauses after a refusal"],
  "test/authz/spicedb/load.test.ts": [2, "load pauses after a refusal, or without work"],
  "test/authz/spicedb/write/idle-watch.test.ts": [
    1,
    "SpiceDB must accept the pings of a stream that is really silent for as long as it lives",
  ],
  "test/conformance/programs/client-call.ts": [3, "the conformance suite asks for delays"],
  "test/conformance/programs/handlers.ts": [1, "the conformance suite asks for delays"],
  "test/conformance/programs/request-queue.ts": [1, "the conformance suite asks for delays"],
  "test/emit/gateway/real/inside.ts": [1, "polls a gateway in a container, without vitest"],
  "test/hub/git-service.test.ts": [2, "the hub says how long its caller should wait"],
  "test/hub/support/scene.ts": [1, "the rate limit of the hub"],
  "test/runtime/audit/postgres-audit.test.ts": [1, "load pauses after a refusal"],
  "test/runtime/audit/tables/event-queue.test.ts": [2, "a database that takes a moment"],
  "test/runtime/authn/internal/token-files.test.ts": [1, "files are read in real time"],
  "test/runtime/chain/interceptors.test.ts": [1, "fake timers"],
  "test/runtime/chain/server-chain.test.ts": [1, "fake timers"],
  "test/runtime/client/support/fake-transport.ts": [1, "closing takes a moment"],
  "test/runtime/faults/process.test.ts": [1, "a reader that pauses"],
  "test/runtime/faults/support/child-mishap.ts": [2, "slow handlers are the mishap"],
  "test/runtime/faults/support/fault-handlers.ts": [3, "slow handlers are the fault"],
  "test/runtime/faults/support/load.ts": [1, "the rate of the load"],
  "test/runtime/grpc/late-reader.test.ts": [1, "a handler that reads late"],
  "test/runtime/grpc/lifecycle.test.ts": [1, "the rate of resets"],
  "test/runtime/grpc/streaming.test.ts": [2, "slow handlers"],
  "test/runtime/http/raw/node-handler.test.ts": [2, "slow handlers"],
  "test/runtime/http/server/long-streams.test.ts": [
    4,
    "the time limits of Node's HTTP server, which uses no timer that can be faked",
  ],
  "test/runtime/http/support.ts": [1, "reads until the server is silent"],
  "test/runtime/interop/support/interop-handlers.ts": [1, "the interop suite asks for intervals"],
  "test/runtime/observers/metrics/service-metric.test.ts": [1, "a metric that hangs"],
  "test/runtime/registry/etcd-registry.test.ts": [
    2,
    "etcd does not report that leases are renewed",
  ],
  "test/runtime/server/calls/draining.test.ts": [1, "a slow handler"],
  "test/runtime/server/readiness.test.ts": [1, "a slow check"],
  "test/runtime/server/calls/shutdown-order.test.ts": [3, "servers that take a moment to close"],
  "test/runtime/tls/renewal.test.ts": [1, "files are read in real time"],
  "test/support/until.ts": [2, "the pauses of waits for a condition"],
};

test("tests wait for events and conditions, and do not sleep", () => {
  const counts = FILES.map((file): [string, number] => {
    return [file, sleepsOf(readFileSync(join(ROOT, file), "utf8"), file)];
  });
  const found = Object.fromEntries(counts.filter(([, count]) => count > 0));
  const allowed = Object.entries(SLEEPS).map(([file, [count]]) => [file, count]);
  expect(found).toEqual(Object.fromEntries(allowed));
});

test.each([
  ["await sleep(100);", 1],
  ["await new Promise((resolve) => setTimeout(resolve, 100));", 1],
  ["await new Promise((done) => void setTimeout(done, 100));", 1],
  ["setTimeout(() => socket.destroy(), 100); socket.setTimeout(done, 100);", 0],
])("sleeps are found: %s", (text, count) => {
  expect(sleepsOf(text)).toBe(count);
});

test.each([
  ["expect.poll(() => made).toBe(1);", [false]],
  ["expect.poll(made, { interval: 10 }).toBe(1);", [false]],
  ['expect.poll(made, { interval: 10, message: "two are made" }).toBe(2);', [true]],
  ['expect\n  .poll(made, { message: "two are made" })\n  .toBe(2);', [true]],
  ["vi.poll(); made.poll(() => expect(1));", []],
])("polls are found: %s", (text, named) => {
  expect(pollsOf(text).map(({ isNamed }) => isNamed)).toEqual(named);
});

function pollsOf(text: string, file = "a.ts"): { place: string; isNamed: boolean }[] {
  if (!text.includes(".poll(")) return [];
  const polls: { place: string; isNamed: boolean }[] = [];
  const { program } = parseSync(file, text);
  new Visitor({
    CallExpression({ callee, arguments: [, options], start }) {
      if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier") return;
      if (text.slice(callee.object.start, callee.end).replace(/\s/g, "") !== "expect.poll") return;
      const line = text.slice(0, start).split("\n").length;
      const names =
        options?.type === "ObjectExpression"
          ? options.properties.map((property) =>
              "key" in property && property.key.type === "Identifier" ? property.key.name : "",
            )
          : [];
      polls.push({ place: `${file}:${line}`, isNamed: names.includes("message") });
    },
  }).visit(program);
  return polls;
}

function sleepsOf(text: string, file = "a.ts"): number {
  if (!/sleep\(|setTimeout\(/.test(text)) return 0;
  let count = 0;
  new Visitor({
    CallExpression({ callee, arguments: [first] }) {
      if (callee.type !== "Identifier") return;
      const resolves = callee.name === "setTimeout" && first?.type === "Identifier";
      if (callee.name === "sleep" || resolves) count++;
    },
  }).visit(parseSync(file, text).program);
  return count;
}
