/** `svc-iam audit`, as processes of the owner of a zone. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { columnsOf } from "../../../../test/support/effort.ts";
import { CommandLine, endOf, startOwned } from "../support/command-line.ts";
import type { IamService } from "../support/iam-service.ts";
import type { Ran } from "../support/run-program.ts";

const PASSWORD = "seven green parrots sing";

let iam: IamService;
let line: CommandLine;
beforeAll(async () => {
  iam = await startOwned();
  line = new CommandLine();
  await line.logIn(iam);
  writeFileSync(join(line.folder, "password"), PASSWORD);
});
afterAll(() => iam.stop());

const WRONG: readonly [string, readonly string[], RegExp][] = [
  [
    "a time that is not one",
    ["--from", "yesterday"],
    /--from "yesterday" is not a valid time: write 2026-11-22/,
  ],
  [
    "an RPC without its service",
    ["--rpc", "CreateUser"],
    /--rpc "CreateUser" is not the full name of an RPC/,
  ],
  [
    "a principal without a type",
    ["--principal", "alice"],
    /--principal "alice" has no type: write type:id, such as user:alice/,
  ],
  [
    "a principal that nobody is, or is no more",
    ["--principal", "user:carol"],
    /no user has the id or user name .*: svc-iam user list shows them; a deleted one is named by its id, which svc-iam audit query --event iam\.user\.delete shows/,
  ],
  ["an unknown decision", ["--decision", "maybe"], /'maybe' is invalid/],
  ["an empty type", ["--event", ""], /--event is empty: write a value, or leave the flag out/],
  ["a type that no event has", ["--event", "login.faild"], /did you mean "login\.failed"\?/],
  ["an empty request id", ["--request-id", ""], /--request-id is empty/],
];

describe.each(["query", "export", "follow"].map((name, turn) => ({ name, turn })))(
  "svc-iam audit $name says on one line what is wrong, with exit code 2 [CMD-3]:",
  ({ name, turn }) => {
    test.each(columnsOf(WRONG, turn, 3))("%s", async (_, flags, message) => {
      const { status, stdout, stderr } = await line.run("audit", name, ...flags);
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(message);
      expect(stderr).toMatch(/^svc-iam: [^\n]+\n$/);
    });
  },
);

test("what is not a position is refused with where positions come from [CMD-3]", async () => {
  expect(await line.run("audit", "follow", "--position", "x")).toEqual({
    status: 2,
    stdout: "",
    stderr:
      "svc-iam: the position is malformed (INVALID_ARGUMENT): write one that svc-iam audit follow --format json has printed\n",
  });
});

test("a query that finds nothing says so, but not beside JSON [CMD-5]", async () => {
  const query = ["audit", "query", "--request-id", "none"];
  expect(await line.run(...query)).toEqual({
    status: 0,
    stdout: "",
    stderr: "svc-iam: no events\n",
  });
  expect(await line.run(...query, "--format", "json")).toEqual({
    status: 0,
    stdout: "",
    stderr: "",
  });
});

test("events are found by a user's name, newest first or all of them [CMD-5]", async () => {
  await line.json("relationship", "write", "zone:acme#admin@service:one");
  await line.json("relationship", "write", "zone:acme#admin@service:two");
  const query = await line.run("audit", "query", "--principal", "user:root", "--limit", "2");
  const [header, ...rows] = query.stdout.split("\n");
  expect(header).toMatch(/^TIME +RESULT +RISK +EVENT +CALLER .* REASON$/);
  expect(rows).toHaveLength(3);
  expect(rows[0]).toMatch(/^\d{4}-\S+ +OK +[A-Z]+ +\S+ +user:[0-9a-f-]{36} /);
  expect(rows[0]?.indexOf("user:")).toBe(header?.indexOf("CALLER"));
  const one = await line.run("audit", "query", "--principal", "user:root", "--limit", "1");
  expect(one.stderr).toBe("svc-iam: the newest event; --limit shows more\n");
  expect(query.stderr).toBe("svc-iam: the newest 2 events; --limit shows more\n");
  const exported = await line.run(
    "audit",
    "export",
    "--principal",
    "user:root",
    "--format",
    "json",
  );
  const events = exported.stdout
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text));
  expect(events.length).toBeGreaterThanOrEqual(2);
  expect(exported.stderr).toBe(`svc-iam: ${events.length} events\n`);
  const times = events.map(({ time }) => time);
  expect(times).toEqual([...times].sort());
});

test("the event of a refusal says which right was missing [CMD-5]", async () => {
  await line.json(
    ...["user", "create", "dan", "--email", "dan@example.com", "--password-file", "password"],
  );
  const dan = new CommandLine();
  await dan.logIn(iam, { username: "dan", password: PASSWORD });
  expect((await dan.run("user", "create", "eve", "--email", "eve@example.com")).status).toBe(2);
  const refused = ["audit", "query", "--code", "FORBIDDEN", "--principal", "user:dan"];
  expect((await line.run(...refused)).stdout).toMatch(/ needs manage_users on zone:acme\n$/);
});

test("the position of the start is sent first, where it is asked for, and continues there [CMD-5]", async () => {
  const { accessToken } = await line.json("token");
  const stopping = new AbortController();
  const url = `${iam.origin}/v1/iam/audit/events:follow?position_of_start=true`;
  const headers = { authorization: `Bearer ${accessToken}` };
  const { body } = await fetch(url, { headers, signal: stopping.signal });
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const { value } = await reader.read();
  stopping.abort();
  const { position, ...rest } = JSON.parse(Buffer.from(value ?? []).toString());
  expect(rest).toEqual({});

  await line.run("user", "create", "between", "--email", "between@example.com");
  const flags = ["--position", position, "--event", "iam.user.create", "--format", "json"];
  const next = line.start("audit", "follow", ...flags);
  const ended = endOf(next);
  const [text] = await once(
    createInterface({ input: next.stdout as NodeJS.ReadableStream }),
    "line",
  );
  expect(JSON.parse(text).event).toMatchObject({ type: "iam.user.create" });
  next.kill("SIGTERM");
  expect((await ended).status).toBe(0);
});

test("events are followed until a signal, from a position [CMD-5]", async () => {
  const child = line.start("audit", "follow", "--event", "iam.user.create", "--format", "json");
  const ended = endOf(child);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  let count = 0;
  const create = async () => {
    const name = `user${count++}`;
    for (;;) {
      const made = await line.run("user", "create", name, "--email", `${name}@example.com`);
      // The link of the user may be refused, too.
      if (made.stderr.includes(" created: ")) return;
      // Of a fast machine, where the stream begins late.
      if (!made.stderr.includes("(RATE_LIMITED)")) throw new Error(made.stderr);
    }
  };
  // The stream begins at an unknown moment after the start of the process.
  let first: string | undefined;
  const seen = once(lines, "line").then(([text]) => void (first = text));
  const over = failed(ended);
  while (first === undefined) await Promise.race([create(), seen, over]);
  const { event, position } = JSON.parse(first);
  expect(event).toMatchObject({ type: "iam.user.create" });
  child.kill("SIGINT");
  expect((await ended).status).toBe(0);

  await create();
  const next = line.start("audit", "follow", "--position", position, "--event", "iam.user.create");
  const stopped = endOf(next);
  const output = createInterface({ input: next.stdout as NodeJS.ReadableStream });
  const [text] = await Promise.race([once(output, "line"), failed(stopped)]);
  expect(text).toMatch(/ iam\.user\.create user:/);
  next.kill("SIGTERM");
  expect((await stopped).status).toBe(0);
});

/** Rejects once a command has ended that should go on: nothing would come of it any more. */
async function failed(ended: Promise<Ran>): Promise<never> {
  throw new Error(`the command has ended: ${JSON.stringify(await ended)}`);
}
