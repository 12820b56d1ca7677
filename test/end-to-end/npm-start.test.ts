/** `npm start`: svc-iam and the hub on this machine, with users, until Ctrl-C. */
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Browser } from "../../services/iam/test/support/browser.ts";
import { ReflectionClient } from "../hub/support/reflection-client.ts";
import { IS_THOROUGH } from "../support/effort.ts";
import { until } from "../support/until.ts";
import { PlatformCheckout, type PlatformRun } from "./support/platform-checkout.ts";

const READY = "Ctrl-C ends everything.\n";

let checkout: PlatformCheckout;
let first: PlatformRun;
let output = "";

beforeAll(async () => {
  checkout = await PlatformCheckout.create();
  first = checkout.start();
  await first.printed(READY);
  output = first.output;
});
afterAll(() => checkout?.remove());

/** What the first start has printed. */
const password = () => /password {3}(\S+)/.exec(output)?.[1] ?? "";
const curlLines = () =>
  [...output.matchAll(/^ {2}# (\d+): .*\n {2}(curl .*)$/gm)].map(
    ([, status = "", command = ""]) => ({ status: Number(status), command }),
  );
const idOf = (line: number) =>
  / 'x-svc-external-sub: (\S+)'/.exec(curlLines()[line]?.command ?? "")?.[1];
function runLine(index: number) {
  const { stdout, stderr, status } = spawnSync("sh", ["-c", curlLines()[index]?.command ?? ""], {
    encoding: "utf8",
  });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return JSON.parse(stdout);
}

test("the hub is compiled, and both services are ready [START-1]", async () => {
  expect(output).toContain("$ npx buf generate\n");
  expect(output).toContain("40 RPCs: ");
  for (const name of ["IAM_HTTP", "HUB_HTTP"]) {
    const response = await fetch(`http://${checkout.address(name)}/readyz`);
    expect([response.status, await response.json()]).toEqual([200, { status: "ready" }]);
  }
  const metrics = await fetch(`http://${checkout.address("IAM_METRICS")}/metrics`);
  expect(metrics.status).toBe(200);
});

test("the five curl lines work as they are printed [START-2]", () => {
  expect(curlLines().map(({ status }) => status)).toEqual([401, 200, 403, 200, 200]);
  expect(runLine(0)).toMatchObject({ status: 401, code: "UNAUTHORIZED" });
  expect(runLine(1)).toMatchObject({ projectId: "1", organizationId: "acme" });
  expect(runLine(2)).toMatchObject({ status: 403, code: "FORBIDDEN" });
  const { entries } = runLine(3);
  const alice = idOf(3);
  const carol = idOf(1);
  expect(entries.map(({ subject }: { subject: { id: string } }) => subject.id).sort()).toEqual(
    [alice, carol].sort(),
  );
  expect(runLine(4)).toMatchObject({ username: "Reporter", organizationId: "acme", source: "jwt" });
});

test("the clients of svc-iam are listed by the system token, which only this user can read [START-2]", () => {
  const command = /^ {2}# the clients of svc-iam.*\n {2}(.*)$/m.exec(output)?.[1] ?? "";
  const { stdout, stderr, status } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  expect(stdout).toContain("  device  none        Command line\n");
  const file = /cat (\S+)\)/.exec(command)?.[1] ?? "";
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(output).not.toContain(readFileSync(file, "utf8").trim());
});

test("the hub accepts a token of svc-iam, and denies what its service account may not do", async () => {
  const command = /"Authorization: Bearer \$\((.*)\)"$/.exec(curlLines()[4]?.command ?? "")?.[1];
  const { stdout: token } = spawnSync("sh", ["-c", command ?? ""], { encoding: "utf8" });
  const headers = { authorization: `Bearer ${token.trim()}` };
  const status = async (path: string) =>
    (await fetch(`http://${checkout.address("HUB_HTTP")}${path}`, { headers })).status;
  expect([await status("/v1/authn/me"), await status("/v1/projects/1")]).toEqual([200, 403]);
});

test("the login path leads to the authorization endpoint [START-3]", async () => {
  const origin = `http://${checkout.address("IAM_HTTP")}`;
  const response = await fetch(`${origin}/v1/iam/ui/login`, { redirect: "manual" });
  expect(response.status).toBe(303);
  expect(response.headers.get("location")).toMatch(`${origin}/v1/iam/oidc/auth?`);
});

test.each(["alice", "bob", "carol"])(
  "%s logs in with the printed password [START-3]",
  async (username) => {
    const origin = `http://${checkout.address("IAM_HTTP")}`;
    const browser = new Browser(origin);
    const page = await browser.open(`${origin}/v1/iam/ui/login?return_to=/v1/iam/me`);
    const visit = await browser.submit(page, { action: "login", username, password: password() });
    expect(JSON.parse(visit.text)).toMatchObject({ username, organizationId: "acme" });
  },
);

test("both gRPC ports have reflection [START-1]", async () => {
  for (const [name, rpc] of [
    ["IAM_GRPC", "svc.iam.v1.IAMAuthService/GetMe"],
    ["HUB_GRPC", "hub.authn.v1.AuthnService/GetMe"],
  ] as const) {
    const client = new ReflectionClient(checkout.address(name));
    onTestFinished(() => client.close());
    expect((await client.call(rpc, {}, {})).code).toBe("unauthenticated");
  }
});

test("Ctrl-C, which npm sends a second time, ends everything [START-4]", async () => {
  expect(checkout.processes().size).toBeGreaterThanOrEqual(3);
  first.signal("SIGINT", "group");
  first.signal("SIGINT", "group");
  expect(await first.ended()).toBe(0);
  await nothingRuns();
  expect(first.errors).not.toContain("npm start:");
});

test("a second start continues with the data, and ends if one of its processes does [START-5]", async () => {
  const second = checkout.start();
  await second.printed(READY);
  expect(second.output.slice(second.output.indexOf("The platform is ready"))).toBe(
    output.slice(output.indexOf("The platform is ready")),
  );
  const response = await fetch(`http://${checkout.address("IAM_HTTP")}/v1/users`, {
    headers: { "x-svc-external-sub": idOf(3) ?? "", "x-svc-external-owner": "acme" },
  });
  const { users } = (await response.json()) as { users: { username: string }[] };
  expect(users.map(({ username }) => username)).toEqual(["alice", "bob", "carol"]);
  const [hub] = [...checkout.processes()].find(([, line]) => line.includes("hub/main.ts")) ?? [];
  process.kill(hub as number, "SIGKILL");
  expect(await second.ended()).toBe(1);
  expect(second.errors).toContain("npm start: hub has ended (SIGKILL)\n");
  await nothingRuns();
});

test("SIGTERM while the hub is compiled ends everything [START-4]", async () => {
  const run = checkout.start();
  await run.printed("$ npx buf generate\n");
  run.signal("SIGTERM", "npm");
  expect(await run.ended()).toBe(0);
  await nothingRuns();
});

describe.runIf(IS_THOROUGH)("at other moments", () => {
  test("Ctrl-C while users are made ends everything, and the next start makes the rest", async () => {
    checkout.environment["DATA"] = join(checkout.folder, "other");
    const run = checkout.start();
    const bootstraps = () =>
      [...checkout.processes().values()].some((line) => line.includes(" bootstrap "));
    await until("the first owner is being made", bootstraps);
    run.signal("SIGINT", "group");
    expect(await run.ended()).toBe(0);
    await nothingRuns();
    const next = checkout.start();
    await next.printed(READY);
    next.signal("SIGINT", "group");
    expect(await next.ended()).toBe(0);
  });

  test("a process that does not end in 7 s is killed", async () => {
    const run = checkout.start();
    await run.printed(READY);
    const [iam] = [...checkout.processes()].find(([, line]) => line.includes(" serve ")) ?? [];
    process.kill(iam as number, "SIGSTOP");
    run.signal("SIGINT", "group");
    expect(await run.ended()).toBe(0);
    expect(run.errors).toContain("npm start: svc-iam did not end within 7 s, and was killed\n");
    await nothingRuns();
  });

  test("a killed npm takes everything with it", async () => {
    const run = checkout.start();
    await run.printed(READY);
    run.signal("SIGKILL", "npm");
    await run.ended();
    await nothingRuns();
  });

  test("data that another start uses are not opened a second time", async () => {
    const run = checkout.start();
    await run.printed(READY);
    const other = await PlatformCheckout.create();
    onTestFinished(() => other.remove());
    other.environment["DATA"] = checkout.environment["DATA"];
    const refusedRun = other.start();
    expect(await refusedRun.ended()).toBe(2);
    expect(refusedRun.errors).toContain("npm start: svc-iam has ended (exit code 2): ");
    run.signal("SIGTERM", "npm");
    expect(await run.ended()).toBe(0);
  });
});

/** What was killed is still there for a moment. */
function nothingRuns(): Promise<void> {
  const left = () => [...checkout.processes().values()];
  return until(
    () => `everything has ended: ${left()}`,
    () => left().length === 0,
  );
}
