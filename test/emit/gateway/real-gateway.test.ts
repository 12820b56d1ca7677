/**
 * The emitted files of `examples/hub` on a real Envoy Gateway with a real Envoy, before the real hub:
 * they behave as docs/gateway.md says.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { ROUTES, type RouteEntry } from "../../hub/support/routes.ts";
import { IS_THOROUGH } from "../../support/effort.ts";
import { type Document, documentsOf, ofKind } from "./documents.ts";
import { gatewayIsAbsent } from "./real/programs.ts";
import { type Answer, type Asked, RealGateway } from "./real/real-gateway.ts";

const ME = "/v1/authn/me";
const PROGRAMS = "api.example.com";
const SCRIPTS = "scripts.example.com";
const ADMIN = "https://admin.example.com";
const GET_ME = "/hub.authn.v1.AuthnService/GetMe";

const isPublished = ({ gateway }: RouteEntry) => gateway?.publish === true;

/** Runs in CI; schemas and goldens are always checked. */
const isLeftOut = !IS_THOROUGH || gatewayIsAbsent();

describe.skipIf(isLeftOut)("the emitted files on a real Envoy Gateway [PLAT-1]", () => {
  let gateway: RealGateway;
  let documents: Document[];
  let alice: string;
  /** Alice's token for programs. */
  let worker: string;

  beforeAll(async () => {
    gateway = new RealGateway();
    await gateway.ready();
    alice = await gateway.token();
    worker = await gateway.token({ aud: "worker" });
    const emitted = join(gateway.folder, "gen");
    documents = documentsOf(
      readdirSync(emitted, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".yaml"))
        .map((name) => ({ name, content: readFileSync(join(emitted, name), "utf8") })),
    );
  });
  afterAll(() => gateway?.remove());

  const ask = (path: string, more: Partial<Asked> = {}) => gateway.ask({ path, ...more });
  /** What a caller sees of an error in the form of the runtime. */
  const errorOf = ({ status, headers, body, seen }: Answer) => {
    expect(seen, "the gateway must have answered").toBeUndefined();
    expect(headers["content-type"]).toBe("application/json");
    const { request_id: id, ...error } = JSON.parse(body);
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(error.status).toBe(status);
    return `${status} ${error.code}: ${error.message}`;
  };
  const UNAUTHORIZED = "401 UNAUTHORIZED: unauthorized";
  const sentTo = ({ seen }: Answer): string[] =>
    (seen?.rawHeaders ?? [])
      .filter((_, index) => index % 2 === 0)
      .map((name) => name.toLowerCase());

  test("every document is loaded and accepted [EDGE-1]", async () => {
    const withStatus = documents.filter(({ kind }) => kind !== "ReferenceGrant");
    expect(withStatus.length).toBeGreaterThan(20);
    // Envoy may have its routes before Envoy Gateway has logged what became of each resource.
    let statuses = new Map<string, string[]>();
    const names = withStatus.map(
      ({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`,
    );
    const withoutStatus = async () => {
      statuses = statusesOf(await gateway.run<string>({ kind: "log" }));
      return names.filter((name) => !statuses.has(name));
    };
    await expect
      .poll(withoutStatus, { message: "the gateway has a status for each document" })
      .toEqual([]);
    for (const name of names) {
      expect(statuses.get(name), name).toEqual(
        expect.arrayContaining([expect.stringMatching(/^Accepted True/)]),
      );
      const refused = statuses
        .get(name)
        ?.filter((each) => / False/.test(each) && !/^(Programmed|Overridden)/.test(each));
      expect(refused, name).toEqual([]);
    }
  });

  test("HEAD has the routes of GET: RPCs, declared paths and pages", async () => {
    for (const path of [ME, "/v1/skills:featured", "/healthz", "/"]) {
      const head = await ask(path, { method: "HEAD", token: alice });
      expect([head.status, head.seen?.method], path).toEqual([200, "HEAD"]);
    }
    const noBody = await ask(ME, { method: "HEAD" });
    expect(noBody.status).toBe(302);
  });

  test("the login is a 302 on pages and on the API, for scripts, too, with PKCE and the time limit of the edge [EDGE-4]", async () => {
    const script = [
      ["Sec-Fetch-Mode", "cors"],
      ["X-Requested-With", "XMLHttpRequest"],
    ] as const;
    for (const [path, headers] of [
      ["/", []],
      [ME, []],
      [ME, script],
    ] as const) {
      const { status, headers: answer, cookies } = await ask(path, { headers });
      expect(status).toBe(302);
      expect(answer["location"]).toMatch(
        /^http:\/\/localhost:\d+\/authorize\?.*code_challenge_method=S256/,
      );
      expect(cookies.join()).toMatch(/OauthNonce.*Max-Age=240/);
    }
  });

  test("a login returns to its page, and its session reaches the backend [PLAT-4, WEB-2, PLAT-11]", async () => {
    const begun = await ask("/welcome");
    const state = new URL(begun.headers["location"] ?? "").searchParams.get("state") ?? "";
    const cookie = (answer: Answer) =>
      ["Cookie", answer.cookies.map((each) => each.split(";")[0]).join("; ")] as const;
    const callback = `/v1/authn/exchange?code=a-code&state=${encodeURIComponent(state)}`;
    const back = await ask(callback, { headers: [cookie(begun)] });
    expect([back.status, back.headers["location"]]).toEqual([
      302,
      "http://hub.example.com/welcome",
    ]);
    const me = await ask(ME, { headers: [cookie(back)] });
    expect([me.status, JSON.parse(me.body).userId]).toEqual([200, "alice"]);
    // Behind the gateway, cookies are plain tokens: docs/gateway.md warns about it.
    const index = me.seen?.rawHeaders.findIndex((name) => name.toLowerCase() === "cookie") ?? -1;
    expect(me.seen?.rawHeaders[index + 1]).toMatch(/AccessToken-hub-frontend=eyJ/);
    const forged = await ask(callback, { headers: [["Cookie", "OauthNonce=x"]] });
    expect([forged.status, forged.seen]).toEqual([401, undefined]);
  });

  test("deny_redirect gives scripts a 401, for each of their headers, and all others a 302 [EDGE-4]", async () => {
    for (const sign of [
      ["Sec-Fetch-Mode", "cors"],
      ["Sec-Fetch-Dest", "empty"],
      ["X-Requested-With", "XMLHttpRequest"],
    ] as const) {
      expect(errorOf(await ask(ME, { host: SCRIPTS, headers: [sign] }))).toBe(UNAUTHORIZED);
    }
    const page = [
      ["Sec-Fetch-Mode", "navigate"],
      ["Sec-Fetch-Dest", "document"],
    ] as const;
    for (const headers of [[], page]) {
      expect((await ask(ME, { host: SCRIPTS, headers })).status).toBe(302);
    }
  });

  test("errors of the gateway on an API route have the runtime's form, and errors of the hub are passed on [EDGE-12]", async () => {
    const bad = await ask(ME, { token: "x.y.z" });
    expect(errorOf(bad)).toBe(UNAUTHORIZED);
    expect(bad.headers["www-authenticate"]).toBe("Bearer");
    // The id in the body is the gateway's own, never text of the caller.
    const id = [["X-Request-ID", 'mine","code":"OK']] as const;
    expect(errorOf(await ask(ME, { token: "x.y.z", headers: id }))).toBe(UNAUTHORIZED);
    const stranger = await gateway.token({ owner: "other" });
    expect(errorOf(await ask(ME, { token: stranger }))).toBe("403 FORBIDDEN: permission denied");
    const missing = await ask("/v1/projects/none", { token: alice });
    expect(missing.seen).toBeDefined();
    expect(missing.status).toBeGreaterThanOrEqual(400);
    expect(missing.headers["x-request-id"]).toBe(JSON.parse(missing.body).request_id);
    // A page of another origin can read them.
    const read = await ask(ME, { token: "x.y.z", headers: [["Origin", ADMIN]] });
    expect(errorOf(read)).toBe(UNAUTHORIZED);
    expect(read.headers["access-control-allow-origin"]).toBe(ADMIN);
    expect(read.headers["access-control-allow-credentials"]).toBe("true");
    const evil = await ask(ME, { token: "x.y.z", headers: [["Origin", "https://evil.example"]] });
    expect(errorOf(evil)).toBe(UNAUTHORIZED);
    expect(evil.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("too many calls are 429 with Retry-After, in the runtime's form", async () => {
    const asked = Array.from({ length: 40 }, (): Asked => {
      return { path: "/v1/projects/none", method: "DELETE", token: alice };
    });
    const answers = await gateway.run<Answer[]>({ kind: "ask at once", asked });
    const refused = answers.filter(({ seen }) => seen === undefined);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expect(errorOf(answer)).toBe("429 RATE_LIMITED: rate limited");
      expect(answer.headers["retry-after"]).toBe("1");
    }
  });

  test("a page of an allowed origin may write, by the lists of the edge and the hub; a page of another origin may not [EDGE-15]", async () => {
    const body = JSON.stringify({ organizationId: "acme", displayName: "By another page" });
    const write = (origin: string) =>
      ask("/v1/projects", {
        method: "POST",
        token: alice,
        body,
        headers: [
          ["Origin", origin],
          ["Sec-Fetch-Site", "same-site"],
        ],
      });
    const preflight = (origin: string) =>
      ask("/v1/projects", {
        method: "OPTIONS",
        headers: [
          ["Origin", origin],
          ["Access-Control-Request-Method", "POST"],
        ],
      });
    const written = await write(ADMIN);
    expect([written.status, written.headers["access-control-allow-origin"]]).toEqual([200, ADMIN]);
    const allowed = await preflight(ADMIN);
    expect([allowed.status, allowed.headers["access-control-allow-origin"], allowed.seen]).toEqual([
      200,
      ADMIN,
      undefined,
    ]);
    const evil = "https://evil.example";
    expect((await write(evil)).status).toBe(403);
    expect((await preflight(evil)).headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("identity headers with dots and hyphens are removed, and rejected with underscores; trace headers pass [EDGE-3, EDGE-14]", async () => {
    const forged = [
      "x-svc-user-id",
      "x.svc.user.id",
      "x-svc.user-id",
      "x.svc-user.id",
      "X.Svc.User.Id",
      "x-internal-jwt",
      "x.internal.jwt",
      "x-internal.jwt",
      "x-svc-anything",
    ];
    const trace = [
      ["traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
      ["tracestate", "a=b"],
    ] as const;
    for (const [path, token] of [
      [ME, alice],
      ["/v1/skills:featured", undefined],
      ["/healthz", undefined],
      ["/", alice],
    ] as const) {
      const headers = [...forged.map((name) => [name, "mallory"] as const), ...trace];
      const answer = await ask(path, { headers, ...(token === undefined ? {} : { token }) });
      expect(answer.status, path).toBe(200);
      expect(
        answer.seen?.rawHeaders.filter((text) => text === "mallory"),
        path,
      ).toEqual([]);
      expect(sentTo(answer)).toEqual(expect.arrayContaining(["traceparent", "tracestate"]));
    }
    for (const name of ["x_svc_user_id", "x-svc_user-id"]) {
      const answer = await ask(ME, { token: alice, headers: [[name, "mallory"]] });
      expect([answer.status, answer.seen]).toEqual([400, undefined]);
    }
  });

  test("the subject type is that of the token, and nobody else's [EDGE-8, AUTHN-14]", async () => {
    const HEADER = "x-svc-subject-type";
    const valuesOf = ({ seen }: Answer) =>
      (seen?.rawHeaders ?? []).filter((_, at, all) => all[at - 1]?.toLowerCase() === HEADER);
    const account = await gateway.token({ sub: "ci", subject_type: "service_account" });
    for (const [token, expected] of [
      [alice, []],
      [account, ["service_account"]],
      [await gateway.token({ subject_type: "user" }), ["user"]],
    ] as const) {
      const headers = [[HEADER, "service_account"] as const];
      const answer = await ask(ME, { token, headers });
      expect([answer.status, valuesOf(answer)]).toEqual([200, expected]);
    }
    expect((await ask(ME, { token: await gateway.token({ subject_type: "robot" }) })).status).toBe(
      400,
    );
  });

  test("a frontend with login: bearer accepts tokens of its audiences, and has no login, cookies or pages [EDGE-5]", async () => {
    const programs = (path: string, more: Partial<Asked> = {}) =>
      ask(path, { host: PROGRAMS, ...more });
    for (const aud of ["cli", "worker", ["other", "cli"]]) {
      const me = await programs(ME, { token: await gateway.token({ aud }) });
      expect([me.status, JSON.parse(me.body).userId]).toEqual([200, "alice"]);
    }
    const none = await programs(ME);
    expect(errorOf(none)).toBe(UNAUTHORIZED);
    expect(none.cookies).toEqual([]);
    const cookie = `AccessToken-hub-frontend=${alice}; AccessToken-programs=${worker}`;
    expect(errorOf(await programs(ME, { headers: [["Cookie", cookie]] }))).toBe(UNAUTHORIZED);
    expect(errorOf(await programs(`${ME}?access_token=${worker}`))).toBe(UNAUTHORIZED);
    // Tokens of the client of another frontend, without an audience, of another organization.
    expect(errorOf(await programs(ME, { token: alice }))).toMatch(/^403 /);
    expect(errorOf(await programs(ME, { token: await gateway.token({ aud: [] }) }))).toMatch(
      /^40[13] /,
    );
    const stranger = await gateway.token({ aud: "cli", owner: "other" });
    expect(errorOf(await programs(ME, { token: stranger }))).toMatch(/^403 /);
    for (const path of ["/", "/v1/authn/exchange", "/oauth2/callback", "/logout"]) {
      expect((await programs(path, { token: worker })).status).toBe(404);
    }
    expect((await programs("/healthz")).status).toBe(200);
  });

  describe("a token is refused [EDGE-5]", () => {
    const seconds = (more: number) => Math.floor(Date.now() / 1000) + more;
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    /** A token with another header, whose signature is that of the token or is given. */
    const withHeader = (token: string, change: object, signature = token.split(".")[2]) => {
      const [header = "", claims = ""] = token.split(".");
      const old = JSON.parse(Buffer.from(header, "base64url").toString());
      return [part({ ...old, ...change }), claims, signature].join(".");
    };

    test.each<[string, () => Promise<string> | string]>([
      ["that has expired", () => gateway.token({ exp: seconds(-120), iat: seconds(-3600) })],
      ["that is not valid yet", () => gateway.token({ nbf: seconds(600) })],
      ["of another issuer", () => gateway.token({ iss: "https://evil.example" })],
      ["of another audience", () => gateway.token({ aud: "worker" })],
      ["without an audience", () => gateway.token({ aud: [] })],
      ["without a signature", () => withHeader(alice, { alg: "none" }, "")],
      ["of a symmetric algorithm", () => withHeader(alice, { alg: "HS256" })],
      ["of another key", () => withHeader(alice, { kid: "key-2" })],
      [
        "whose claims were changed",
        () => {
          const [header = "", claims = "", signature = ""] = alice.split(".");
          const old = JSON.parse(Buffer.from(claims, "base64url").toString());
          return [header, part({ ...old, sub: "mallory" }), signature].join(".");
        },
      ],
      ["that is no JWT", () => "x"],
    ])("%s, as a Bearer token and as the cookie of a session", async (_, made) => {
      const token = await made();
      for (const asked of [
        { token },
        { headers: [["Cookie", `AccessToken-hub-frontend=${token}`]] as const },
      ]) {
        const { status, seen } = await ask(ME, asked);
        expect([status, seen]).toEqual([expect.toBeOneOf([302, 401, 403]), undefined]);
      }
    });

    test("without the prefix Bearer", async () => {
      for (const value of [alice, `Token ${alice}`]) {
        const { status, seen } = await ask(ME, { headers: [["Authorization", value]] });
        expect([status, seen]).toEqual([expect.toBeOneOf([302, 401]), undefined]);
      }
    });

    test("unless it is valid", async () => {
      const { status, body } = await ask(ME, { token: await gateway.token({ nbf: seconds(-5) }) });
      expect([status, JSON.parse(body).userId]).toEqual([200, "alice"]);
    });
  });

  describe("connect: true", () => {
    const PROTOCOLS = [
      {
        name: "Connect",
        type: "application/json",
        withText: (text: string) => text,
        failure: '{"code":"permission_denied","message":"permission denied","details":[',
      },
      {
        name: "gRPC-Web",
        type: "application/grpc-web+json",
        // In an envelope, with its length.
        withText: (text: string) => `\0\0\0\0${String.fromCharCode(text.length)}${text}`,
        failure: "grpc-status: 7\r\n",
      },
    ].map((protocol) => ({ ...protocol, body: protocol.withText("{}") }));
    const VERSION = ["Connect-Protocol-Version", "1"] as const;
    const call = (path: string, { headers = [], ...more }: Partial<Asked> = {}) =>
      ask(path, {
        host: PROGRAMS,
        method: "POST",
        body: "{}",
        headers: [VERSION, ...headers],
        ...more,
      });

    test("routes neither unpublished RPCs nor the platform's own", async () => {
      for (const rpc of [
        "hub.authn.v1.AuthnService/RecordLogin",
        "hub.authn.v1.AuthnService/PurgeLogins",
        "hub.projects.v1.RunnerService/FinishRun",
        "hub.skills.v1.SkillPackageService/RebuildIndex",
        "git.v1.RepositoryService/GetRepository",
        "grpc.health.v1.Health/Check",
        "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      ]) {
        for (const { type, body } of PROTOCOLS) {
          const hidden = await call(`/${rpc}`, { token: worker, type, body });
          expect([hidden.status, hidden.seen], rpc).toEqual([404, undefined]);
        }
      }
      // On a frontend without connect, such a path is one of its pages.
      expect((await call(GET_ME, { host: "hub.example.com", token: alice })).body).toBe(
        "<p>a page</p>",
      );
    });

    test("routes each RPC of the hub if and only if it is published, and GET only if the hub accepts it", async () => {
      expect(new Set(ROUTES.map(isPublished))).toEqual(new Set([true, false]));
      const byGet: string[] = [];
      for (const route of ROUTES) {
        const path = `/${route.rpc}`;
        const posted = await call(path, { token: worker });
        expect([route.rpc, posted.seen !== undefined]).toEqual([route.rpc, isPublished(route)]);
        const got = await ask(`${path}?connect=v1&encoding=json&message=%7B%7D`, {
          host: PROGRAMS,
          token: worker,
        });
        if (got.seen === undefined) continue;
        byGet.push(route.rpc);
        expect([405, 415], route.rpc).not.toContain(got.status);
      }
      expect(byGet.length).toBeGreaterThan(5);
    });

    test("rejects callers that the policy rejects, in a form that clients of both protocols read by its status", async () => {
      for (const { type, body } of PROTOCOLS) {
        expect(errorOf(await call(GET_ME, { type, body }))).toBe(UNAUTHORIZED);
        const stranger = await gateway.token({ aud: "cli", owner: "other" });
        expect(errorOf(await call(GET_ME, { type, body, token: stranger }))).toMatch(/^403 /);
      }
    });

    test.each(PROTOCOLS)("$name gets responses and the errors of the hub", async (protocol) => {
      const { type, body, withText, failure } = protocol;
      const answer = await call(GET_ME, { type, body, token: worker });
      expect([answer.status, answer.headers["content-type"]]).toEqual([200, type]);
      expect(answer.body).toContain('"userId":"alice"');
      expect(answer.seen?.method).toBe("POST");
      // Public RPCs need no caller.
      const open = await call("/hub.skills.v1.SkillService/ListFeaturedSkills", { type, body });
      expect([open.status, open.headers["content-type"]]).toEqual([200, type]);
      const refused = await call("/hub.skills.v1.SkillService/GetSkill", {
        type,
        body: withText('{"skillId":"none"}'),
        token: worker,
      });
      expect(refused.seen).toBeDefined();
      expect(refused.body).toContain(failure);
    });

    test.each(PROTOCOLS)("$name: identity headers are removed", async ({ type, body }) => {
      const headers = ["x-svc-external-sub", "x-svc-user-id", "x.svc.user.id"].map(
        (name) => [name, "mallory"] as const,
      );
      const answer = await call(GET_ME, { type, body, headers, token: worker });
      expect(answer.seen?.rawHeaders).not.toContain("mallory");
      expect(answer.body).toContain('"userId":"alice"');
      expect(errorOf(await call(GET_ME, { type, body, headers }))).toBe(UNAUTHORIZED);
    });

    test("Connect's GET reaches only RPCs without side effects", async () => {
      const query = "connect=v1&encoding=json&message=%7B%7D";
      const get = (path: string, more: Partial<Asked> = {}) =>
        ask(`${path}?${query}`, { host: PROGRAMS, token: worker, ...more });
      const read = await get(GET_ME);
      expect([read.status, read.seen?.url]).toEqual([200, `${GET_ME}?${query}`]);
      expect(read.headers["cache-control"]).toBe("no-store");
      expect(JSON.parse(read.body).me.userId).toBe("alice");
      for (const rpc of ["CreateProject", "WatchRun"]) {
        const write = await get(`/hub.projects.v1.ProjectService/${rpc}`);
        expect([write.status, write.seen], rpc).toEqual([404, undefined]);
      }
    });

    test("pages of an allowed origin may send and read the headers of clients; others may not", async () => {
      const preflight = (origin: string) =>
        ask(GET_ME, {
          host: PROGRAMS,
          method: "OPTIONS",
          headers: [
            ["Origin", origin],
            ["Access-Control-Request-Method", "POST"],
            ["Access-Control-Request-Headers", "connect-protocol-version,content-type,x-grpc-web"],
          ],
        });
      const allowed = await preflight(ADMIN);
      expect([allowed.status, allowed.seen]).toEqual([200, undefined]);
      expect(allowed.headers["access-control-allow-origin"]).toBe(ADMIN);
      const names = allowed.headers["access-control-allow-headers"]?.toLowerCase().split(/, ?/);
      expect(names).toEqual(
        expect.arrayContaining([
          "authorization",
          "content-type",
          "connect-protocol-version",
          "connect-timeout-ms",
          "connect-content-encoding",
          "grpc-timeout",
          "x-grpc-web",
          "x-user-agent",
          "idempotency-key",
        ]),
      );
      const evil = "https://evil.example";
      expect((await preflight(evil)).headers["access-control-allow-origin"]).toBeUndefined();

      for (const { type, body } of PROTOCOLS) {
        const from = (origin: string) =>
          call(GET_ME, { type, body, token: worker, headers: [["Origin", origin]] });
        const { status, headers } = await from(ADMIN);
        expect([status, headers["access-control-allow-origin"]]).toEqual([200, ADMIN]);
        // The edge's list, regardless of the service.
        expect(headers["access-control-expose-headers"]).toBe(
          "X-Request-ID, Idempotent-Replayed, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit-Policy, Content-Length, Content-Encoding, Connect-Content-Encoding, Connect-Accept-Encoding, Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin, Grpc-Encoding, Grpc-Accept-Encoding",
        );
        expect((await from(evil)).headers["access-control-allow-origin"]).toBeUndefined();
      }
    });
  });

  test("Envoy waits one second longer than the hub for an RPC, and without a limit for pages and streams", async () => {
    const timeouts = timeoutsOf(await gateway.run({ kind: "routes" }));
    expect(timeouts.get("/v1/projects")).toEqual(["6s"]);
    expect(timeouts.get(ME)).toEqual(["6s"]);
    for (const path of ["/", "/healthz", "/v1/authn/exchange"])
      expect(timeouts.get(path), path).toEqual(["0s"]);
    const watch = [...timeouts].filter(([path]) => path.includes(":watch"));
    expect(watch.map(([, value]) => value)).toEqual([["0s"]]);
    // Every route has a timeout, so Envoy's default of 15 seconds never applies.
    expect(
      [...timeouts.values()].flat().filter((value) => value !== "0s" && value !== "6s"),
    ).toEqual([]);
  });

  test("the generator has warned that users cannot log in over HTTP, but not for programs", () => {
    expect(gateway.notes).toContain("warning: users cannot log in to hub-frontend");
    expect(gateway.notes).not.toContain("programs");
    expect(ofKind(documents, "Gateway")[0]?.spec.listeners[0].protocol).toBe("HTTP");
  });

  test("without the hub its routes are 503 in the runtime's form", async () => {
    await gateway.run({ kind: "hub is gone" });
    expect(errorOf(await ask(ME, { token: alice }))).toBe("503 UNAVAILABLE: unavailable");
    expect((await ask("/", { token: alice })).status).toBe(200);
  });
});

/** The conditions of each resource, as Envoy Gateway logs them: `Accepted True Accepted`. */
function statusesOf(log: string): Map<string, string[]> {
  const statuses = new Map<string, string[]>();
  for (const part of log.split("Got new status for ").slice(1)) {
    const [, kind, yaml, key] = /^(\w+)\n([\s\S]*?)\n\t.*"key": "([^"]+)"/.exec(part) ?? [];
    if (kind === undefined) continue;
    statuses.set(`${kind} ${key}`, conditionsOf(parse(yaml ?? "")));
  }
  return statuses;
}

/** A status has conditions itself, or for each of its parents, ancestors and listeners. */
function conditionsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(conditionsOf);
  if (typeof value !== "object" || value === null) return [];
  const { type, status, reason } = value as Record<string, unknown>;
  if (typeof type === "string" && typeof status === "string")
    return [`${type} ${status} ${reason}`];
  return Object.values(value).flatMap(conditionsOf);
}

/** How long Envoy waits, by the text of a path match. */
function timeoutsOf(dump: any): Map<string, string[]> {
  const timeouts = new Map<string, Set<string>>();
  for (const { route_config: config } of dump.configs) {
    for (const { match, route } of config.virtual_hosts.flatMap(({ routes }: any) => routes)) {
      const path =
        match.path ?? match.path_separated_prefix ?? match.safe_regex?.regex ?? match.prefix;
      const known = timeouts.get(path) ?? new Set();
      timeouts.set(path, known.add(route?.timeout ?? "15s"));
    }
  }
  return new Map([...timeouts].map(([path, values]) => [path, [...values]]));
}
