/** `svc-iam client` and `key`, as processes with the system token. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { columnsOf } from "../../../../test/support/effort.ts";
import { CLIENT, CommandLine } from "../support/command-line.ts";
import { type IamService, INTERNAL_TOKEN, startIam } from "../support/iam-service.ts";

const SYSTEM_TOKEN = "the-system-token-of-the-platform-in-tests";
const WEB = {
  id: "0b0c1f0e-5a53-4f6e-9d0e-6f1d5a3b8c21",
  name: "Web",
  flows: ["code"],
  client_secret: "the first secret of the client, in tests",
  redirect_uris: ["https://app.example.com/callback"],
};
const ROBOT = {
  id: "0b0c1f0e-5a53-4f6e-9d0e-6f1d5a3b8c22",
  name: "Robot",
  flows: ["service_account"],
  client_secret: "the secret of the service account, in tests",
};

let iam: IamService;
const line = new CommandLine();
beforeAll(async () => {
  iam = await startIam({
    authn: {
      internal_call: {
        enabled: true,
        token: [{ service: "hub", token: INTERNAL_TOKEN }],
        system_token: SYSTEM_TOKEN,
      },
    },
    iam: { clients: [CLIENT, WEB] },
  });
});
afterAll(() => iam.stop());

/** Writes another configuration of the service. */
function configuration(change: (config: any) => void): string {
  const config = parse(readFileSync(join(iam.folder, "service.yaml"), "utf8"));
  change(config);
  const file = join(iam.folder, `other-${Math.random().toString(36).slice(2)}.yaml`);
  writeFileSync(file, stringify(config));
  return file;
}
const withClients = (...clients: readonly object[]) =>
  configuration((config) => void (config.iam.clients = clients));

const WRONG: readonly [string, () => readonly string[], RegExp][] = [
  [
    "no configuration",
    () => ["client", "list", "none.yaml"],
    /^svc-iam: none\.yaml does not exist/,
  ],
  [
    "a configuration without a system token",
    () => [
      "key",
      "rotate",
      configuration((config) => delete config.security.authn.internal_call.system_token),
    ],
    /has no security\.authn\.internal_call\.system_token: add one/,
  ],
  [
    "a wrong system token",
    () => [
      "client",
      "plan",
      configuration((config) => {
        config.security.authn.internal_call.system_token = `${SYSTEM_TOKEN}x`;
      }),
    ],
    /^svc-iam: the server does not accept the system token of \S+ \(.*\): name the configuration that the server runs with, or/,
  ],
  [
    "a file of the system token that does not exist",
    () => [
      "client",
      "list",
      configuration((config) => {
        const { internal_call } = config.security.authn;
        delete internal_call.system_token;
        internal_call.system_token_file = "/absent/system-token";
      }),
    ],
    /^svc-iam: security\.authn\.internal_call\.system_token_file: .*\/absent\/system-token does not exist; create it/,
  ],
  [
    "flags of the signing key for that of the database",
    () => ["key", "rotate", withClients(), "--encryption", "--urgent"],
    /--encryption works on the database: leave out --urgent and --server/,
  ],
  [
    "a server that is not a URL",
    () => ["client", "apply", withClients(), "--server", "iam"],
    /--server "iam" is not the address of a server/,
  ],
  [
    "a server that does not answer",
    () => ["client", "list", withClients(), "--server", "http://127.0.0.1:9"],
    /the server http:\/\/127\.0\.0\.1:9 cannot be reached or used: nothing listens there: check the address/,
  ],
  [
    "a client with the id of another one",
    () => ["client", "plan", withClients(WEB, WEB)],
    /is that of another client/,
  ],
  [
    "a key that is not published long enough",
    () => ["key", "rotate", withClients()],
    /repeat after .*, or use --urgent .*\(FAILED_PRECONDITION\)/,
  ],
];

describe("says what is wrong, with exit code 2 [CMD-3]:", () => {
  test.each(columnsOf(WRONG, 0, 4))("%s", async (_, args, message) => {
    const { status, stdout, stderr } = await line.run(...args());
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });
});

const tokenOf = async ({ id, client_secret }: typeof ROBOT) => {
  const authorization = `Basic ${Buffer.from(`${id}:${encodeURIComponent(client_secret)}`).toString("base64")}`;
  const body = new URLSearchParams({ grant_type: "client_credentials" });
  const init = { method: "POST", headers: { authorization }, body };
  return (await fetch(`${iam.origin}/v1/iam/oidc/token`, init)).status;
};

test("clients are listed without secrets, planned, and applied while the service runs [CMD-8]", async () => {
  const same = withClients(CLIENT, WEB);
  const listed = await line.run("client", "list", same);
  expect(listed).toMatchObject({ status: 0, stderr: "" });
  expect(listed.stdout).toContain(`${WEB.id}  code    secret      Web\n`);
  expect(listed.stdout).not.toContain(WEB.client_secret);
  expect(await line.run("client", "plan", same)).toEqual({
    status: 0,
    stdout: "",
    stderr: "svc-iam: no changes\n",
  });

  const changed = { ...WEB, client_secret: "the second secret of the client, in tests" };
  const file = withClients(changed, ROBOT);
  const plan = await line.run("client", "plan", file);
  expect([plan.status, plan.stderr]).toEqual([1, ""]);
  expect(plan.stdout.split("\n").slice(1)).toEqual([
    `changed  ${WEB.id}  Web           client_secret`,
    `added    ${ROBOT.id}  Robot         -`,
    `removed  ${CLIENT.id}  Command line  -`,
    "",
  ]);
  expect(await tokenOf(ROBOT)).toBe(401);
  const applied = await line.run("client", "apply", file);
  expect([applied.status, applied.stdout]).toEqual([0, plan.stdout]);
  expect(await tokenOf(ROBOT)).toBe(200);
  expect(await line.json("client", "apply", file)).toEqual([]);

  // A start with this configuration finds nothing to change, one with another applies that.
  const events = async () =>
    (await iam.server.audit?.list({ type: "client.applied" }))?.events.length;
  expect(await events()).toBe(6);
  await line.run("client", "apply", same);
  expect(await tokenOf(ROBOT)).toBe(401);
});

test("the signing key is rotated at once if it is urgent, and tokens are signed with the next one [CMD-8]", async () => {
  const kids = async () => {
    const { keys } = (await (await fetch(`${iam.origin}/v1/iam/oidc/jwks`)).json()) as any;
    return keys.map(({ kid }: { kid: string }) => kid);
  };
  const [current, next] = await kids();
  const file = withClients();
  expect(await line.json("key", "rotate", file, "--urgent")).toEqual({
    keyId: next,
    retiredKeyId: current,
  });
  expect((await kids()).slice(0, 1)).toEqual([next]);
  const rewrapped = await line.run("key", "rotate", file, "--encryption");
  expect([rewrapped.status, rewrapped.stderr]).toEqual([0, ""]);
  expect(rewrapped.stdout).toMatch(/^\d+ values are now encrypted with the first key\n$/);
});
