/** `svc-iam login` and `logout`, as processes at a real svc-iam. */
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { columnsOf } from "../../../../test/support/effort.ts";
import { Browser } from "../support/browser.ts";
import { approve, CommandLine, endOf, linkIn, startOwned } from "../support/command-line.ts";
import { type IamService, LOGIN_CLIENT } from "../support/iam-service.ts";

let iam: IamService;
beforeAll(async () => {
  iam = await startOwned();
});
afterAll(() => iam.stop());

const WRONG: readonly [string, () => readonly string[], RegExp][] = [
  ["no server", () => ["login"], /name the server: svc-iam login https/],
  ["a server that is not a URL", () => ["login", "iam"], /"iam" is not the address of a server/],
  ["a server with a path", () => ["login", `${iam.origin}/v1`], /is not the address of a server/],
  [
    "a server without TLS",
    () => ["login", "http://iam.example.com"],
    /write https:\/\/iam\.example/,
  ],
  ["an issuer that is not a URL", () => ["login", iam.origin, "--issuer", "x"], /--issuer "x"/],
  [
    "a server that nobody serves",
    () => ["login", "http://127.0.0.1:1021"],
    /provider http:\/\/127\.0\.0\.1:1021\/v1\/iam\/oidc cannot be reached or used: nothing listens there/,
  ],
  [
    "https at a port without TLS",
    () => ["login", iam.origin.replace("http:", "https:")],
    /cannot be reached or used: it does not use TLS: write http:/,
  ],
  [
    "an issuer that has no provider",
    () => ["login", iam.origin, "--issuer", `${iam.origin}/none`],
    /\/none cannot be reached or used: no identity provider is there: check the address/,
  ],
  [
    "a client that the server does not know",
    () => ["login", iam.origin, "--client-id", "0f0d5b3e-8a51-4f0e-9a43-5c1e0a7c21d4"],
    /does not know the client.*declare it in iam\.clients/,
  ],
  [
    "a client that may not log devices in",
    () => ["login", iam.origin, "--client-id", LOGIN_CLIENT],
    /--client-id/,
  ],
  [
    "a port that HTTP clients refuse",
    () => ["login", "http://127.0.0.1:9"],
    /\/oidc cannot be reached or used: the port belongs to another protocol/,
  ],
  ["an unknown flag", () => ["login", "--nothing"], /unknown option '--nothing'/],
  ["an argument of logout", () => ["logout", "all"], /too many arguments/],
];

describe("svc-iam login says on one line what is wrong, with exit code 2:", () => {
  test.each(columnsOf(WRONG, 0, 5))("%s", async (_, args, message) => {
    const { status, stdout, stderr } = await new CommandLine().run(...args());
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^svc-iam: [^\n]+\n$/);
  });
});

describe("a file of the login", () => {
  const LOGIN = {
    server: "http://127.0.0.1:1021",
    issuer: "http://127.0.0.1:1021/v1/iam/oidc",
    clientId: "a client",
    accessToken: "a-token",
    expires: Date.now() + 600_000,
    organizationId: "acme",
    username: "root",
  };
  const FILES: readonly [string, string, number, RegExp][] = [
    ["that others may read", JSON.stringify(LOGIN), 0o644, /others may read .*: run chmod 600/],
    ["that is not JSON", "{", 0o600, /is not a login: remove it, and run svc-iam login/],
    ["that lacks a field", JSON.stringify({ ...LOGIN, server: 1 }), 0o600, /is not a login/],
    [
      "that has ended, without a refresh token",
      JSON.stringify({ ...LOGIN, expires: 0 }),
      0o600,
      /the login has ended: run svc-iam login/,
    ],
    [
      "of a server that does not answer",
      JSON.stringify(LOGIN),
      0o600,
      /the server http:\/\/127\.0\.0\.1:1021 cannot be reached or used: nothing listens there/,
    ],
  ];
  test.each(columnsOf(FILES, 1, 3))("%s is refused", async (_, text, mode, message) => {
    const line = new CommandLine({ SVC_IAM_LOGIN_FILE: "login.json" });
    const file = `${line.folder}/login.json`;
    writeFileSync(file, text);
    chmodSync(file, mode);
    const { status, stdout, stderr } = await line.run("check", "me", "owner", "zone:acme");
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^svc-iam: [^\n]+\n$/);
  });
});

test("a logout without the server removes the login, and says how to end the session [CMD-1]", async () => {
  const line = new CommandLine({ SVC_IAM_LOGIN_FILE: "login.json" });
  const file = `${line.folder}/login.json`;
  const server = "http://127.0.0.1:1021";
  const login = {
    server,
    issuer: `${server}/v1/iam/oidc`,
    clientId: "a client",
    accessToken: "a-token",
    refreshToken: "another token",
    expires: Date.now() + 600_000,
    organizationId: "acme",
    username: "root",
  };
  writeFileSync(file, JSON.stringify(login), { mode: 0o600 });
  const { status, stdout, stderr } = await line.run("logout");
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(
    /^svc-iam: the login is removed here, but its session at http:\/\/127\.0\.0\.1:1021 was not ended \(.*nothing listens.*\): .*svc-iam session end\n$/,
  );
  expect(existsSync(file)).toBe(false);
});

test("a person logs in with a browser, commands act as this person, and logout ends it [CMD-1]", async () => {
  const line = new CommandLine();
  const before = await line.run("check", "me", "owner", "zone:acme");
  expect(before.stderr).toMatch(/nobody is logged in: run svc-iam login/);
  const { status, stdout, stderr } = await line.logIn(iam);
  expect([status, stdout]).toEqual([0, ""]);
  expect(stderr).toMatch(/confirm the code [A-Z]{4}-[A-Z]{4}\n/);
  expect(stderr).toContain(`logged in at ${iam.origin} as root\n`);
  expect(statSync(line.loginFile).mode & 0o777).toBe(0o600);
  expect(statSync(`${line.folder}/svc-iam`).mode & 0o777).toBe(0o700);

  expect(await line.json("check", "me", "owner", "zone:acme")).toMatchObject({ allowed: true });
  const saved = JSON.parse(readFileSync(line.loginFile, "utf8"));
  writeFileSync(line.loginFile, JSON.stringify({ ...saved, expires: Date.now() + 1000 }));
  expect(await line.json("check", "me", "owner", "zone:acme")).toMatchObject({ allowed: true });
  const refreshed = JSON.parse(readFileSync(line.loginFile, "utf8"));
  expect(refreshed.refreshToken).not.toBe(saved.refreshToken);
  expect(refreshed.expires).toBeGreaterThan(Date.now() + 60_000);

  const id = (await line.json("whoami")).id;
  const who = await line.run("whoami");
  expect([who.status, who.stderr]).toEqual([0, ""]);
  expect(who.stdout).toBe(
    `root (user:${id}) of acme at ${iam.origin}, until the session ends; svc-iam session list shows it\n`,
  );
  const token = await line.run("token");
  expect([token.status, token.stderr]).toEqual([0, ""]);
  const headers = { authorization: `Bearer ${token.stdout.trim()}` };
  expect((await fetch(`${iam.origin}/v1/iam/me`, { headers })).status).toBe(200);
  expect(await line.json("token")).toEqual({
    accessToken: expect.any(String),
    expires: expect.stringMatching(/Z$/),
  });

  const ended = await line.run("logout");
  expect(ended).toEqual({
    status: 0,
    stdout: "",
    stderr: `svc-iam: logged out of ${iam.origin}\n`,
  });
  expect(existsSync(line.loginFile)).toBe(false);
  expect((await line.run("logout")).stderr).toBe("svc-iam: nobody is logged in\n");
  expect(await line.json("logout")).toEqual({});
  // Whoever has a copy of the file has nothing.
  const copied = { ...refreshed, expires: 0 };
  writeFileSync(line.loginFile, JSON.stringify(copied), { mode: 0o600 });
  const { status: after, stderr: why } = await line.run("check", "me", "owner", "zone:acme");
  expect([after, why]).toEqual([2, "svc-iam: the login has ended: run svc-iam login\n"]);
});

test("a refreshed login that cannot be stored is used, with a warning", async () => {
  const person = new CommandLine();
  expect((await person.logIn(iam)).status).toBe(0);
  // A file can have this name; the new one beside it, whose name is longer, cannot.
  const name = `${"x".repeat(240)}.json`;
  const line = new CommandLine({ SVC_IAM_LOGIN_FILE: name });
  const saved = JSON.parse(readFileSync(person.loginFile, "utf8"));
  writeFileSync(`${line.folder}/${name}`, JSON.stringify({ ...saved, expires: 0 }), {
    mode: 0o600,
  });
  const { status, stdout, stderr } = await line.run("whoami");
  expect(stderr).toMatch(
    /^svc-iam: the refreshed login is not stored, .* svc-iam login: x+\.json cannot be written \(ENAMETOOLONG\): .*\n$/,
  );
  expect(status).toBe(0);
  expect(stdout).toMatch(/^root /);
});

test("a login is stored though its server does not say whose it is, and the next command asks again [CMD-1]", async () => {
  let isAway = true;
  const server = createServer(async ({ url, headers: { authorization = "" } }, response) => {
    if (isAway) return void response.writeHead(503).end();
    const answer = await fetch(`${iam.origin}${url}`, { headers: { authorization } });
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(await answer.text());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const line = new CommandLine();
    const child = line.start("login", origin, "--issuer", `${iam.origin}/v1/iam/oidc`);
    const ended = endOf(child);
    await approve(new Browser(iam.origin), await linkIn(child));
    const { status, stdout, stderr } = await ended;
    expect(stderr).toContain(
      "svc-iam: whose this login is could not be asked, so the next command asks: ",
    );
    expect([status, stdout, stderr.split("\n").at(-2)]).toEqual([
      0,
      "",
      `svc-iam: logged in at ${origin}`,
    ]);
    expect((await line.run("whoami")).stderr).toContain(`the server ${origin} cannot answer now`);
    isAway = false;
    expect((await line.run("whoami")).stdout).toContain(`root (user:`);
    const saved = JSON.parse(readFileSync(line.loginFile, "utf8"));
    expect(saved).toMatchObject({ server: origin, username: "root", organizationId: "acme" });
  } finally {
    server.close();
  }
});

test("a login that is refused in the browser stores nothing [CMD-1]", async () => {
  const line = new CommandLine();
  const child = line.start("login", iam.origin);
  const ended = endOf(child);
  const browser = new Browser(iam.origin);
  const page = await browser.submit(await browser.open(await linkIn(child)), {});
  await browser.submit(page, { abort: "yes" });
  const { status, stderr } = await ended;
  expect([status, stderr.split("\n").at(-2)]).toEqual([
    2,
    "svc-iam: the login was refused in the browser",
  ]);
  expect(existsSync(line.loginFile)).toBe(false);
});
