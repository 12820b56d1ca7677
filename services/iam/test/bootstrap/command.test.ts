/** The commands `svc-iam serve` and `svc-iam bootstrap`, as processes, with what they print. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { columnsOf } from "../../../../test/support/effort.ts";
import { freePort } from "../../../../test/support/free-port.ts";
import { FIRST } from "../support/bootstrap.ts";
import { asUser } from "../support/iam-service.ts";
import { MAIN, runIam } from "../support/run-program.ts";

const MODEL = new URL("../../../../model/iam.zed", import.meta.url).pathname;
const CLIENT = "4b7d1b0e-6d0a-4bb1-8a5a-0d8c1ef1a0e1";

const folder = mkdtempSync(join(tmpdir(), "svc-iam-command-"));
const file = join(folder, "service.yaml");
const port = await freePort();
const origin = `http://localhost:${port}`;
writeFileSync(
  file,
  `environment: development
service: iam
log: { level: debug }
server: { http: { address: "127.0.0.1:${port}" }, grpc: null, metrics: null }
security:
  authn:
    mode: hybrid
    provider: embedded
    oidc: { issuer: "${origin}/v1/iam/oidc", audience: [${CLIENT}] }
  authz: { provider: embedded, model: "${MODEL}" }
database: { driver: sqlite, file: "${join(folder, "iam.db")}" }
iam:
  organization: acme
  public_url: ${origin}
  login: { client_id: ${CLIENT}, redirect_uris: ["http://localhost:3001/callback"] }
`,
);

const run = (...args: readonly string[]) => runIam(args, { cwd: folder });

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WRONG: readonly [string, readonly string[], RegExp][] = [
  ["a configuration that does not exist", ["none.yaml"], /none\.yaml/],
  ["an unknown format", ["--format", "xml"], /'xml' is invalid.*text, json/],
  ["an unknown flag", ["--owner", "me"], /unknown option '--owner'/],
  ["a zone that is not one", [file, "--zone", "a b"], /--zone must be 1 to 64 letters/],
  ["another zone than that of the local users", [file, "--zone", "other"], /leave out --zone/],
];

describe("svc-iam bootstrap says what is wrong, with exit code 2, of", () => {
  test.each(columnsOf(WRONG, 0, 3))("%s", async (_, flags, message) => {
    const { status, stdout, stderr } = await run("bootstrap", ...flags);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/at .*:\d+:\d+/);
  });
});

describe("beside a service that runs", () => {
  let served: ChildProcess;
  let log = "";
  beforeAll(async () => {
    served = spawn(process.execPath, [MAIN, "serve", file], { cwd: folder });
    const isUp = new Promise<void>((resolve, reject) => {
      served.stdout?.on("data", (chunk: Buffer) => {
        log += chunk;
        if (log.includes('"message":"started"')) resolve();
      });
      served.once("close", (code) => reject(new Error(`it ended with ${code}: ${log}`)));
    });
    await isUp;
  });
  afterAll(async () => {
    if (served.exitCode !== null) return;
    served.kill("SIGTERM");
    await once(served, "close");
  });

  test("the link makes the first user, and is in no log, as that of a new password [IDP-8, IDP-30]", async () => {
    expect(log).toContain(
      "the zone acme has no owner, so nobody can administer it: run svc-iam bootstrap",
    );
    const before = await (await fetch(`${origin}/readyz`)).json();
    expect(before).toEqual({
      status: "ready",
      details: [
        "bootstrap: the zone acme has no owner, so nobody can administer it: run svc-iam bootstrap",
      ],
    });

    const text = await run("bootstrap", file);
    expect(text.stderr).toMatch(/becomes the owner of the zone acme: it works once, until \d{4}-/);
    expect(text.status).toBe(0);
    expect(text.stdout).toMatch(
      /^http:\/\/localhost:\d+\/v1\/iam\/ui\/bootstrap\?token=[\w-]{43}\n$/,
    );
    const json = await run("bootstrap", file, "--format", "json");
    expect([json.status, json.stderr]).toEqual([0, ""]);
    const made = JSON.parse(json.stdout);
    expect(Object.keys(made)).toEqual(["zone", "url", "expires"]);

    const link = text.stdout.trim();
    expect((await fetch(link)).status).toBe(200);
    const token = new URL(link).searchParams.get("token") ?? "";
    const body = new URLSearchParams({ ...FIRST, token });
    const sent = await fetch(`${origin}/v1/iam/ui/bootstrap`, { method: "POST", body });
    expect(sent.status, await sent.text()).toBe(200);

    const again = await run("bootstrap", file);
    expect([again.status, again.stdout]).toEqual([1, ""]);
    expect(again.stderr).toContain("the zone acme already has an owner");

    // The line of a call is written after its response.
    const OWNER = /"owner":"user:([^"]+)"/;
    await expect.poll(() => log, { message: "the log names the owner" }).toMatch(OWNER);
    const owner = OWNER.exec(log)?.[1] ?? "";
    const asOwner = { ...asUser(owner), "content-type": "application/json" };
    const call = (path: string, given: object) =>
      fetch(`${origin}${path}`, {
        method: "POST",
        headers: asOwner,
        body: JSON.stringify(given),
      });
    const created = await call("/v1/users", {
      username: "bob",
      displayName: "Bob",
      email: "bob@example.com",
      password: "seven yellow parrots sing",
    });
    expect(created.status).toBe(200);
    const bob = (await created.json()) as { readonly id: string };
    const reset = (await (await call(`/v1/users/${bob.id}/password-reset-links`, {})).json()) as {
      readonly url: string;
    };
    const opened = await fetch(reset.url, { redirect: "manual" });
    expect(opened.status).toBe(303);
    const passwords = {
      currentPassword: "a wrong password",
      newPassword: "seven green parrots sing",
    };
    expect((await call("/v1/iam/me/password:change", passwords)).status).toBe(400);

    const exit = once(served, "close");
    served.kill("SIGTERM");
    expect(await exit).toEqual([0, null]);
    expect(log).toContain("/v1/iam/ui/password-reset");
    const urls = [made.url, reset.url].map((url) => new URL(url).searchParams.get("token") ?? "");
    const secrets = [token, ...urls, ...Object.values(passwords), FIRST["password"] ?? ""];
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(10);
      expect(log).not.toContain(secret);
      expect(readFileSync(join(folder, "iam.db"), "latin1")).not.toContain(secret);
    }
  });
});
