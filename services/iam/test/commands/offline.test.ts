/** `--offline`: commands on the store of a stopped svc-iam, as processes. */
import { type AddressInfo, Server } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { createAuthorizationEngine, openAuditLog } from "svc-access/runtime";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connectOffline } from "../../src/offline.ts";
import { FIRST } from "../support/bootstrap.ts";
import { databaseOf } from "../support/browser-login.ts";
import { CommandLine, startOwned } from "../support/command-line.ts";
import { addFactor } from "../support/factors.ts";
import { AS_HUB, asUser, type IamService, startIam } from "../support/iam-service.ts";
import { logInAt } from "../support/log-in-at.ts";
import { IS_PRODUCTION_STACK } from "../support/stack.ts";

const OPERATOR = `operator:${userInfo().username}`;

let iam: IamService;
let file: string;
const line = new CommandLine();
beforeAll(async () => {
  iam = await startOwned();
  const root = await databaseOf(iam).kysely.selectFrom("iam_users").selectAll().execute();
  await addFactor(iam, root[0]?.id ?? "");
  file = join(iam.folder, "service.yaml");
});
afterAll(() => iam.stop());

const offline = (...args: readonly string[]) => line.run(...args, "--offline", file);
async function json(...args: readonly string[]): Promise<any> {
  const { status, stdout, stderr } = await offline(...args, "--format", "json");
  expect(stderr).toBe(
    `svc-iam: acting as ${OPERATOR} on the store of ${file}: nobody's rights are checked\n`,
  );
  expect(status).toBe(0);
  return JSON.parse(stdout);
}

test("it is refused while a server answers, and without a configuration [CMD-7]", async () => {
  const running = await offline("user", "list");
  expect([running.status, running.stdout]).toEqual([2, ""]);
  expect(running.stderr).toMatch(
    /^svc-iam: a server answers at http:\S+: leave out --offline and log in, or stop it first\n$/,
  );
  const absent = await line.run("user", "list", "--offline", "none.yaml");
  expect([absent.status, absent.stderr]).toEqual([2, expect.stringContaining("none.yaml")]);
  const empty = await line.run("user", "list", "--offline");
  expect([empty.status, empty.stderr]).toEqual([2, expect.stringMatching(/argument missing/)]);
});

test("the operator manages users, groups and relationships, and the audit names the operator [CMD-7]", async () => {
  await iam.stop();
  expect(await json("user", "list")).toHaveLength(1);
  const alice = await json("user", "create", "alice", "--email", "alice@example.com");
  expect(await json("user", "disable", "alice")).toMatchObject({ disabled: true });
  await json("user", "enable", "alice");
  const engineers = await json("group", "create", "Engineers");
  await json("group", "add-member", "Engineers", "user:alice");
  expect(await json("group", "members", "Engineers")).toHaveLength(1);
  await json("relationship", "write", "zone:acme#user_manager@group:Engineers#member");
  expect(await json("check", "user:alice", "manage_users", "zone:acme")).toMatchObject({
    allowed: true,
  });
  const [relationship, ...more] = await json("relationship", "list", "--resource", "group");
  expect(more).not.toHaveLength(0);
  expect(relationship.resource.id).toBe(engineers.id);
  const account = await json("service-account", "create", "Reporter");
  expect(await json("service-account", "key", "create", "Reporter")).toHaveProperty("secret");
  expect(account.displayName).toBe("Reporter");
  expect(await json("session", "end", "--user", "root", "--all")).toEqual({
    ended: expect.any(Number),
  });

  // Where the owner has lost the factors, nobody else may remove them.
  expect(await json("user", "remove-factors", "root")).toEqual({ removedCount: 1 });

  // What protects the zone holds for the operator, too.
  const last = await offline("user", "disable", "root");
  expect([last.status, last.stderr]).toEqual([2, expect.stringContaining("(FAILED_PRECONDITION)")]);

  for (const type of ["iam.user.disable", "iam.second_factor.remove"]) {
    const log = await openAuditLog(iam.options.configuration);
    const { events } = await log.list({ type, state: "completed" });
    await log.close();
    expect(events.map(({ data }) => data.principal)).toContainEqual(
      expect.objectContaining({ type: "operator", id: userInfo().username }),
    );
  }
  const shown = await offline("audit", "query", "--event", "user.changed");
  expect(shown.status).toBe(0);
  expect(alice.username).toBe("alice");
});

// Only the embedded engine has one process for a store.
test.skipIf(IS_PRODUCTION_STACK)(
  "it is refused while another process holds the store [CMD-7]",
  async () => {
    const engine = await createAuthorizationEngine(iam.options.configuration.config);
    try {
      const { status, stdout, stderr } = await offline("user", "list");
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/^svc-iam: .* is held by process \d+ on .*: stop that process first/);
    } finally {
      await engine.close();
    }
  },
);

test("a link of the operator works once the server runs again [CMD-7]", async () => {
  const { url } = await json("user", "reset-link", "root");
  const port = Number(new URL(iam.origin).port);
  iam = await startIam({ folder: iam.folder, port });
  const opened = await fetch(url, { redirect: "manual" });
  const cookie = opened.headers
    .getSetCookie()
    .map((one) => one.split(";")[0])
    .join("; ");
  const page = await fetch(new URL(opened.headers.get("location") ?? "", url), {
    headers: { cookie },
  });
  expect([opened.status, page.status]).toEqual([303, 200]);
  expect(await page.text()).toContain("password");
  const { accessToken } = await logInAt(iam, "root", FIRST["password"] ?? "");
  expect(accessToken).not.toBe("");
});

test("nobody but the operator is served meanwhile, whatever they hold [CMD-7]", async () => {
  const { accessToken } = await logInAt(iam, "root", FIRST["password"] ?? "");
  await iam.stop();
  const listened = vi.spyOn(Server.prototype, "listen");
  await using _connection = await connectOffline(file);
  const servers = listened.mock.contexts as Server[];
  listened.mockRestore();
  const port = servers.map((server) => (server.address() as AddressInfo).port)[0];
  const at = (path: string, headers: Readonly<Record<string, string>>) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers });
  const callers = [
    {},
    asUser("nobody"),
    { authorization: `Bearer ${accessToken}` },
    AS_HUB,
    { "x-svc-iam-operator": "guessed" },
  ];
  for (const path of ["/v1/users", "/v1/iam/audit/events", "/v1/iam/ui/login"]) {
    for (const headers of callers) expect((await at(path, headers)).status).toBe(403);
  }
});
