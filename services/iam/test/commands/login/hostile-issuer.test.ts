/** `svc-iam login`, `token` and `logout` at a server that answers what it likes: nothing of it is believed. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { CommandLine } from "../../support/command-line.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a server answers in place of what is right, by the part that it is in. */
interface Answers {
  readonly metadata?: Fields;
  readonly device?: Fields;
  readonly token?: Fields;
  readonly me?: Fields;
  /** Of the device endpoint, with status 400. */
  readonly refusal?: Fields;
  /** Of every call of the API, with status 403. */
  readonly forbidden?: string;
}

interface Hostile {
  readonly origin: string;
  /** The paths that were asked. */
  readonly asked: string[];
}

async function listen(answer: RequestListener): Promise<Hostile> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** A server that is right but for these answers. */
function serve(answers: Answers): Promise<Hostile> {
  return listen(({ url = "", headers: { host } }, response) => {
    const origin = `http://${host}`;
    const issuer = `${origin}/v1/iam/oidc`;
    const parts: Readonly<Record<string, Fields>> = {
      "/v1/iam/oidc/.well-known/openid-configuration": {
        issuer,
        device_authorization_endpoint: `${issuer}/device/auth`,
        token_endpoint: `${issuer}/token`,
        revocation_endpoint: `${issuer}/revoke`,
        ...answers.metadata,
      },
      "/v1/iam/oidc/device/auth": answers.refusal ?? {
        device_code: "d",
        user_code: "AAAA-BBBB",
        verification_uri: `${issuer}/device`,
        verification_uri_complete: `${issuer}/device?user_code=AAAA-BBBB`,
        expires_in: 600,
        interval: 0.01,
        ...answers.device,
      },
      "/v1/iam/oidc/token": {
        access_token: "new.token",
        token_type: "Bearer",
        expires_in: 300,
        refresh_token: "new refresh token",
        ...answers.token,
      },
      "/v1/iam/oidc/revoke": {},
      "/v1/iam/me": {
        subjectId: "x",
        username: "root",
        organizationId: "acme",
        ...answers.me,
      },
    };
    const isRefused = url.endsWith("/device/auth") && answers.refusal !== undefined;
    const { forbidden } = answers;
    const isForbidden = forbidden !== undefined && url === "/v1/iam/me";
    response.writeHead(isForbidden ? 403 : isRefused ? 400 : url in parts ? 200 : 404, {
      "content-type": "application/json",
    });
    response.end(
      JSON.stringify(
        isForbidden ? { code: "FORBIDDEN", message: forbidden, status: 403 } : (parts[url] ?? {}),
      ),
    );
  });
}

/** A login whose access token has ended, so that the next command refreshes it. */
function ended(line: CommandLine, origin: string, fields: Fields = {}): void {
  const login = {
    server: origin,
    issuer: `${origin}/v1/iam/oidc`,
    clientId: "cli",
    accessToken: "old.token",
    expires: 0,
    refreshToken: "old refresh token",
    organizationId: "acme",
    username: "root",
    ...fields,
  };
  writeFileSync(`${line.folder}/login.json`, JSON.stringify(login), { mode: 0o600 });
}

const lineWithFile = () => new CommandLine({ SVC_IAM_LOGIN_FILE: "login.json" });
/** Nothing that a terminal acts on, besides the ends of lines. */
const PLAIN = /^[^\p{Cc}\u202e]*$/u;
const linesOf = (text: string) => text.split("\n").slice(0, -1);

const LARGE = "x".repeat(8 * 1024 * 1024);
const ELSEWHERE = "http://192.0.2.2:33502/token";

test.each<[string, Answers, RegExp?]>([
  ["nothing wrong", {}],
  ["no lifetime of the token", { token: { expires_in: undefined } }],
  ["a lifetime as a text of digits", { token: { expires_in: "300" } }],
  ["an opaque token with padding", { token: { access_token: "a-._~+/Z9==" } }],
  ["no complete link", { device: { verification_uri_complete: undefined } }],
  ["a page with TLS on another host", { device: { verification_uri: "https://example.com/go" } }],
  ["a code that lasts for ever", { device: { expires_in: 1e300 } }],
  ["a code with a part of a millisecond", { device: { expires_in: 99.12345 } }],
])("a login at a server with %s is stored, and the next command reads it", async (_, answers) => {
  const { origin } = await serve(answers);
  const line = lineWithFile();
  const { status, stderr } = await line.runInThread("login", origin);
  expect([status, linesOf(stderr).at(-1)]).toEqual([0, `svc-iam: logged in at ${origin} as root`]);
  expect((await line.runInThread("token")).status).toBe(0);
});

const REFUSED: readonly [string, Answers, RegExp][] = [
  [
    "the token endpoint on another machine without TLS",
    { metadata: { token_endpoint: ELSEWHERE } },
    /its token_endpoint is "http:\/\/192\.0\.2\.2:33502\/token", and a login is sent to http:\/\/127\.0\.0\.1:\d+ only: .*--issuer/,
  ],
  [
    "the token endpoint at another origin with TLS",
    { metadata: { token_endpoint: "https://example.com/token" } },
    /its token_endpoint is "https:\/\/example\.com\/token"/,
  ],
  [
    "the token endpoint at this port with TLS",
    { metadata: { token_endpoint: "https://127.0.0.1:1/token" } },
    /its token_endpoint is /,
  ],
  [
    "a token endpoint that is no URL, with line breaks",
    { metadata: { token_endpoint: "\r\nsvc-iam: ok" } },
    /its token_endpoint is "\\\\?r/,
  ],
  [
    "a token endpoint that is not a text",
    { metadata: { token_endpoint: 1 } },
    /token_endpoint is 1,/,
  ],
  [
    "the device endpoint elsewhere",
    { metadata: { device_authorization_endpoint: "http://192.0.2.2/device" } },
    /its device_authorization_endpoint is "http:\/\/192\.0\.2\.2\/device"/,
  ],
  ["8 MB of metadata", { metadata: { x: LARGE } }, /larger than 65536 bytes: check the address/],
  ["8 MB of a device code", { device: { x: LARGE } }, /larger than 65536 bytes: check the address/],
  ["8 MB of tokens", { token: { x: LARGE } }, /larger than 65536 bytes: check the address/],
  ["8 MB of a refusal", { refusal: { error: "no", x: LARGE } }, /larger than 65536 bytes/],
  [
    "an access token with line breaks",
    { token: { access_token: "a\u001b[31m\r\nX-Evil: 1" } },
    /its access token has characters that RFC 6750 does not allow/,
  ],
  ["an access token with a space", { token: { access_token: "a b" } }, /access token has charact/],
  [
    "an access token that ends a line",
    { token: { access_token: "a\n" } },
    /access token has chara/,
  ],
  [
    "a refresh token with a line break",
    { token: { refresh_token: "a\n" } },
    /its refresh token has characters that RFC 6749 does not allow/,
  ],
  ...["javascript:alert(1)", "http://192.0.2.2/", "file:///etc/passwd", "go there", "data:,x"].map(
    (page): [string, Answers, RegExp] => [
      `the page ${page}`,
      { device: { verification_uri: page } },
      /the page for its code is "[^"]+", and must be https:\/\/, .*: do not open it/,
    ],
  ),
  [
    "a complete link of a script",
    { device: { verification_uri_complete: "javascript:alert(1)" } },
    /the page for its code is "javascript:alert\(1\)"/,
  ],
  ...[1e300, 2 ** 31, 0, 1.5].map((seconds): [string, Answers, RegExp] => [
    `a lifetime of ${seconds} s`,
    { token: { expires_in: seconds } },
    /its expires_in is .*, and must be a whole number of seconds from 1 to 2147483647/,
  ]),
  ["a lifetime of -1 s", { token: { expires_in: -1 } }, /"expires_in" property must be/],
  ["a lifetime in words", { token: { expires_in: "soon" } }, /"expires_in" property must be/],
  [
    "a refusal that goes on in another line",
    { refusal: { error: "slow", error_description: "later\r\nsvc-iam: ok\u001b[1m\u202e" } },
    /the server refuses the login \(slow: later svc-iam: ok\\u001b\[1m\\u202e\)\n$/,
  ],
  [
    "a refusal whose code goes on in another line",
    { refusal: { error: "slow\nsvc-iam: ok" } },
    /the server refuses the login \(slow svc-iam: ok\)\n$/,
  ],
  [
    "a refusal named as what objects have",
    { refusal: { error: "constructor" } },
    /\(constructor\)/,
  ],
  [
    "a refusal without end",
    { refusal: { error: "no", error_description: "y".repeat(60_000) } },
    /\(no: y{200}…\)\n$/,
  ],
  [
    "another issuer with line breaks",
    { metadata: { issuer: "https://example.com/\nsvc-iam: ok" } },
    /calls itself https:\/\/example\.com\/ svc-iam: ok: use --issuer/,
  ],
  [
    "another issuer that is a script",
    { metadata: { issuer: "javascript:alert(1)" } },
    /issuer does not match the expected issuer/,
  ],
  [
    "more of the person than a file of the login has",
    { me: { username: "x".repeat(300_000) } },
    /the login cannot be stored, .* has more than 262144 bytes/,
  ],
];

test.each(REFUSED)(
  "a login at a server with %s is refused on one line",
  async (_, answers, why) => {
    const { origin } = await serve(answers);
    const line = lineWithFile();
    const { status, stdout, stderr } = await line.runInThread("login", origin);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(why);
    const lines = linesOf(stderr);
    expect(lines.at(-1)).toMatch(/^svc-iam: the (identity provider|server|login) /);
    expect(lines.length).toBeLessThanOrEqual(2);
    expect(lines.slice(0, -1).join("")).toMatch(/^$|^svc-iam: open http:\/\/127/);
    for (const each of lines) expect(each).toMatch(PLAIN);
    expect(existsSync(`${line.folder}/login.json`)).toBe(false);
  },
);

test.each<[string, Answers]>([
  ["a code", { device: { user_code: "A\r\nsvc-iam: ok\u001b[1m\u202e" } }],
  ["a page", { device: { verification_uri: "https://example.com/\r\nsvc-iam: ok\u202e" } }],
  ["a name", { me: { username: "root\r\nsvc-iam: ok\u001b[1m\u202e" } }],
  ["a refusal of the API", { forbidden: "no\r\nsvc-iam: ok\u001b[1m\u202e" }],
])("%s that goes on in another line makes no line of its own", async (_, answers) => {
  const { origin } = await serve(answers);
  const { status, stderr } = await lineWithFile().runInThread("login", origin);
  expect(status).toBe(0);
  const lines = linesOf(stderr);
  for (const each of lines) expect(each).toMatch(PLAIN);
  const starts = lines.map((each) => /^svc-iam: (open|whose|logged in)/.exec(each)?.[1]);
  const expected = "forbidden" in answers ? ["open", "whose", "logged in"] : ["open", "logged in"];
  expect(starts).toEqual(expected);
});

describe("a stored login", () => {
  test("is refreshed, and its token is printed", async () => {
    const { origin } = await serve({});
    const line = lineWithFile();
    ended(line, origin);
    const { stdout, stderr } = await line.runInThread("token");
    expect([stdout, stderr]).toEqual(["new.token\n", ""]);
  });

  test.each([
    ["token", "token_endpoint"],
    ["whoami", "token_endpoint"],
    ["logout", "revocation_endpoint"],
  ])("is not sent by %s to a %s that has moved", async (command, endpoint) => {
    const other = await listen((_, response) => void response.writeHead(400).end());
    const { origin } = await serve({ metadata: { [endpoint]: `${other.origin}/thief` } });
    const line = lineWithFile();
    ended(line, origin);
    const { status, stdout, stderr } = await line.runInThread(command);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^svc-iam: [^\n]+ a login is sent to http:\/\/127[^\n]+\n$/);
    expect(stderr).toContain(`its ${endpoint} is "${other.origin}/thief"`);
    expect(other.asked).toEqual([]);
  });

  test.each<[string, Fields, RegExp]>([
    ["a forged token", { access_token: "a\r\nX-Evil: 1" }, /access token has characters/],
    ["a forged refresh token", { refresh_token: "a\u0000" }, /refresh token has characters/],
    ["an endless lifetime", { expires_in: 1e300 }, /its expires_in is 1e\+300/],
    ["8 MB", { x: LARGE }, /larger than 65536 bytes/],
  ])("that is refreshed with %s is not changed", async (_, token, why) => {
    const { origin } = await serve({ token });
    const line = lineWithFile();
    ended(line, origin);
    const before = readFileSync(`${line.folder}/login.json`, "utf8");
    const { status, stdout, stderr } = await line.runInThread("token");
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(why);
    expect(stderr).toMatch(/^svc-iam: [^\n]+\n$/);
    expect(readFileSync(`${line.folder}/login.json`, "utf8")).toBe(before);
  });

  test.each<[string, Fields]>([
    ["a server on another machine without TLS", { server: "http://192.0.2.2" }],
    ["a server of another protocol", { server: "ftp://127.0.0.1" }],
    ["an issuer on another machine without TLS", { issuer: "http://192.0.2.2/v1/iam/oidc" }],
    ["a forged token", { accessToken: "a\r\nX-Evil: 1", expires: Date.now() + 600_000 }],
    ["a forged refresh token", { refreshToken: "a\u001b" }],
  ])("with %s is not used", async (_, fields) => {
    const { origin, asked } = await serve({});
    const line = lineWithFile();
    ended(line, origin, fields);
    const { status, stdout, stderr } = await line.runInThread("token");
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toBe("svc-iam: login.json is not a login: remove it, and run svc-iam login\n");
    expect(asked).toEqual([]);
  });
});
