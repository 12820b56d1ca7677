/** The question before what cannot be undone, on a terminal, and the commands that ask only there. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { isConfirmed } from "../../src/commands/run/confirm.ts";
import { CLIENT, CommandLine, startOwned } from "../support/command-line.ts";
import { type IamService, INTERNAL_TOKEN } from "../support/iam-service.ts";

const SYSTEM_TOKEN = "the-system-token-of-the-platform-in-tests";
const ROBOT = {
  id: "0b0c1f0e-5a53-4f6e-9d0e-6f1d5a3b8c22",
  name: "Robot",
  flows: ["service_account"],
  client_secret: "the secret of the service account, in tests",
};

let iam: IamService;
const line = new CommandLine();
beforeAll(async () => {
  iam = await startOwned({
    authn: {
      internal_call: {
        enabled: true,
        token: [{ service: "hub", token: INTERNAL_TOKEN }],
        system_token: SYSTEM_TOKEN,
      },
    },
    iam: { clients: [CLIENT, ROBOT] },
  });
  await line.logIn(iam);
  await line.json("service-account", "create", "Reporter");
  await line.run("user", "create", "alice", "--email", "alice@example.com");
});
afterAll(() => iam.stop());

/** The configuration of the service, with some of its clients. */
function configuration(...clients: readonly object[]): string {
  const config = parse(readFileSync(join(iam.folder, "service.yaml"), "utf8"));
  config.iam.clients = clients;
  const file = join(iam.folder, `with-${clients.length}.yaml`);
  writeFileSync(file, stringify(config));
  return file;
}

const keyOf = async () => {
  const flags = ["--format", "json"];
  const { stdout } = await line.run("service-account", "key", "create", "Reporter", ...flags);
  return JSON.parse(stdout).key.id as string;
};

type Asking = readonly [
  name: string,
  args: () => Promise<readonly string[]>,
  question: RegExp,
  done: RegExp,
];
// The last one ends the login of the others.
const ASKING: readonly Asking[] = [
  [
    "user remove-factors",
    async () => ["user", "remove-factors", "alice"],
    /remove the second factors and recovery codes of the user alice \(\S+\)\?/,
    /user alice has no second factor\n/,
  ],
  [
    "service-account key delete",
    async () => ["service-account", "key", "delete", "Reporter", await keyOf()],
    /delete the key \S+ of the service account Reporter \(\S+\)\?/,
    /key \S+ deleted/,
  ],
  [
    "client apply",
    async () => {
      await line.run("client", "apply", configuration(CLIENT, ROBOT));
      return ["client", "apply", configuration(CLIENT)];
    },
    /remove clients and end what they were given: Robot \(0b0c\S+\)\?/,
    /applied: other replicas follow/,
  ],
  [
    "end-sessions",
    async () => ["end-sessions", configuration(CLIENT, ROBOT)],
    /log everybody of the organization acme out\?/,
    /sessions ended: \d+\n/,
  ],
];

describe.each(ASKING)("svc-iam %s", (_, args, question, done) => {
  test("does nothing on a terminal unless the answer is yes [CMD-4]", async () => {
    const { status, stdout, stderr } = await line.runAnswering("n\n", ...(await args()));
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(question);
    expect(stderr).toMatch(/svc-iam: nothing was done: the answer was not yes\n$/);
  });

  test("does it without a terminal, with --yes, and after a yes [CMD-4]", async () => {
    const ways = [
      async () => line.run(...(await args())),
      async () => line.runAnswering("n\n", ...(await args()), "--yes"),
      async () => line.runAnswering("y\n", ...(await args())),
    ];
    for (const [index, way] of ways.entries()) {
      const { status, stdout, stderr } = await way();
      expect([status, question.test(stderr)], stderr).toEqual([0, index === 2]);
      expect(`${stdout}${stderr}`).toMatch(done);
    }
  });
});

test("clients that are added or changed only are applied without a question [CMD-8]", async () => {
  const file = configuration(CLIENT, { ...ROBOT, name: "Machine" });
  const { status, stderr } = await line.runAnswering("n\n", "client", "apply", file);
  expect([status, stderr]).toEqual([
    0,
    "svc-iam: applied: other replicas follow within a minute\n",
  ]);
});

test.each([
  ["y\n", true],
  ["YES\r\n", true],
  [" yes \n", true],
  ["\n", false],
  ["n\n", false],
  ["yesterday\n", false],
  // The end of the input.
  ["", false],
])("the answer %j is %j [CMD-4]", async (answer, expected) => {
  const input = new PassThrough();
  const output = new PassThrough();
  let asked = "";
  output.on("data", (chunk: Buffer) => void (asked += chunk));
  const confirmed = isConfirmed("delete the group Testers (5f0c)?", input, output);
  input.end(answer);
  expect(await confirmed).toBe(expected);
  expect(asked).toContain(
    "svc-iam: delete the group Testers (5f0c)? This cannot be undone. [y/N] ",
  );
});
