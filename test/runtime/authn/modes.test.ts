import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HybridAuthenticator } from "../../../src/runtime/authn/create-authenticators.ts";
import { GatewayHeadersAuthenticator } from "../../../src/runtime/authn/gateway/gateway-headers.ts";
import type { Authenticator } from "../../../src/runtime/authn/identity/authenticator.ts";
import type { RevocableToken } from "../../../src/runtime/authn/jwt/revocation-list.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { callOf, INTERNAL_TOKEN, recordLog, type SentHeaders, STRANGER } from "./calls.ts";
import { JwtWorld } from "./jwt/jwt-world.ts";
import { stagesOf } from "./stages.ts";

const MISSING = "401 UNAUTHORIZED: missing principal";
const ALICE: SentHeaders = [["x-svc-external-sub", "alice"]];
const internal_call = { enabled: true, token: INTERNAL_TOKEN };

describe("disabled [AUTHN-4]", () => {
  for (const authn of [
    { mode: "disabled" },
    { enabled: false },
    { enabled: false, mode: "hybrid" },
  ]) {
    test(`${JSON.stringify(authn)}: neither headers nor tokens identify a user`, async () => {
      const stages = stagesOf({ ...authn, internal_call });
      const headers: SentHeaders = [...ALICE, ["authorization", "Bearer x.y.z"]];
      for (const exposure of ["PUBLIC", "AUTHENTICATED", "AUTHORIZED"] as const) {
        expect((await stages.passed({ headers, exposure })).principal).toBeUndefined();
      }
      for (const exposure of ["INTERNAL", "SYSTEM"] as const) {
        expect(await stages.outcome({ headers, exposure })).toBe(MISSING);
      }
      const token: SentHeaders = [["x-svc-internal-token", INTERNAL_TOKEN]];
      const found = await stages.passed({ headers: token, exposure: "INTERNAL" });
      expect(found.credential).toBe("internal");
      expect(await stages.outcome({ headers: [["x-svc-user_id", "a"]] })).toContain("400");
    });
  }
});

describe("gateway_trusted [AUTHN-1]", () => {
  test("ignores tokens", async () => {
    const stages = stagesOf({ mode: "gateway_trusted" });
    const headers: SentHeaders = [
      ["authorization", "Bearer x"],
      ["authorization", "Bearer y"],
    ];
    expect(await stages.outcome({ headers })).toBe(MISSING);
    expect(await stages.outcome({ headers: [...headers, ...ALICE] })).toBe("passed");
  });
});

test.each<[Record<string, unknown>, string]>([
  [
    { mode: "gateway_trusted" },
    "identity headers of trusted peers (security.authn.mode gateway_trusted); the Authorization header is ignored; the peer is not trusted",
  ],
  [
    { mode: "idp_jwt", oidc: { issuer: "https://id.example.com", audience: ["client"] } },
    "a JWT in Authorization (security.authn.mode idp_jwt)",
  ],
  [
    { enabled: false, internal_call },
    "an internal token in X-Svc-Internal-Token (security.authn.mode disabled); the Authorization header is ignored",
  ],
])(
  "%j: the debug log has what is read and what is ignored, the response does not",
  async (authn, why) => {
    const lines: string[] = [];
    const logger = {
      ...recordLog().logger,
      debug: (_: object, line: string) => void lines.push(line),
    };
    const stages = stagesOf(authn, {}, { logger });
    // Without a token to check in the mode that reads them.
    const sent = authn["oidc"] !== undefined ? "Basic x" : "Bearer secret";
    const headers: SentHeaders = [...ALICE, ["authorization", sent]];
    const call = { headers, peer: STRANGER, exposure: "INTERNAL" } as const;
    expect(await stages.outcome(call)).toBe(MISSING);
    expect(lines).toEqual([`no caller: the service authenticates by ${why}`]);
    await stages.outcome({ ...call, exposure: "PUBLIC" });
    expect(lines).toHaveLength(1);
  },
);

describe("every mode that authenticates", () => {
  const oidc = { issuer: "https://id.example.com", audience: ["client"] };
  const carol: Authenticator = {
    name: "cookie",
    authenticate: () => ({ principal: { subjectId: "carol" } as never, credential: "cookie" }),
  };

  test.each(["gateway_trusted", "idp_jwt", "hybrid"])(
    "%s: internal tokens are asked first, further authenticators last",
    async (mode) => {
      const stages = stagesOf({ mode, oidc, internal_call }, {}, { authenticators: [carol] });
      const headers: SentHeaders = [["x-svc-internal-token", INTERNAL_TOKEN]];
      expect((await stages.passed({ headers })).credential).toBe("internal");
      expect((await stages.passed({})).credential).toBe("cookie");
    },
  );

  test.each(["idp_jwt", "hybrid"])("%s cannot be created without its provider", (mode) => {
    expect(() => stagesOf({ mode })).toThrow("security.authn.oidc is missing");
  });
});

describe("idp_jwt [AUTHN-2]", () => {
  test("ignores identity headers", async () => {
    const world = await JwtWorld.create();
    expect(await world.outcome(undefined, { headers: ALICE })).toBe(MISSING);
    const call = world.call(world.token({ sub: "bob" }), { headers: ALICE });
    await world.run(call);
    expect(call.principal?.subjectId).toBe("bob");
    await world.close();
  });
});

describe("10 hybrid [AUTHN-3]", () => {
  let world: JwtWorld;
  beforeAll(async () => {
    world = await JwtWorld.create({ mode: "hybrid" });
  });
  afterAll(() => world.close());

  test("a token of one user and headers of another", async () => {
    for (let round = 0; round < 2; round++) {
      expect(await world.outcome(world.token({ sub: "bob" }), { headers: ALICE })).toBe(
        "401 UNAUTHORIZED: the token and the identity headers name different callers",
      );
    }
    const call = world.call(world.token({ sub: "bob" }), { headers: ALICE, exposure: "PUBLIC" });
    await world.run(call);
    expect(call.principal).toBeUndefined();
  });

  test("a token, and headers of an untrusted peer for another user", async () => {
    const call = world.call(world.token({ sub: "bob" }), { headers: ALICE, peer: STRANGER });
    await world.run(call);
    expect(call.principal).toMatchObject({ subjectId: "bob", source: "jwt" });
  });

  test("both for the same user: the token is used", async () => {
    const call = world.call(world.token(), { headers: ALICE });
    await world.run(call);
    expect(call.principal).toMatchObject({ subjectId: "alice", source: "jwt" });
    expect(world.reported).toContain("authentication hybrid identified");
  });

  test("two Authorization headers are an invalid token", async () => {
    const twice: SentHeaders = [
      ["authorization", `Bearer ${world.token()}`],
      ["authorization", `Bearer ${world.token()}`],
    ];
    const call = world.call(undefined, { headers: [...twice, ...ALICE] });
    await world.run(call);
    expect(call.principal).toMatchObject({ subjectId: "alice", source: "gateway" });
    expect(await world.outcome(undefined, { headers: twice })).toContain("must occur once");
  });

  test("a genuine token that is refused decides, whatever the headers", async () => {
    const revocations = { isRevoked: ({ subject }: RevocableToken) => subject === "alice" };
    const strict = await JwtWorld.create(
      { mode: "hybrid", oidc: { allowed_owners: ["acme"] } },
      { revocations },
    );
    for (const claims of [{ owner: "acme" }, { owner: "evil", sub: "bob" }]) {
      const headers: SentHeaders = [["x-svc-external-sub", claims.sub ?? "alice"]];
      expect(await strict.outcome(strict.token(claims), { headers })).toMatch(
        /^401 UNAUTHORIZED: invalid token: (it was revoked|its owner is not accepted)$/,
      );
    }
    await strict.close();
  });

  test("a genuine token that may have been revoked is 503, whatever the headers", async () => {
    const revocations = {
      isRevoked: () => {
        throw new ServiceError("UNAVAILABLE");
      },
    };
    const strict = await JwtWorld.create({ mode: "hybrid" }, { revocations });
    const token = strict.token();
    for (const headers of [ALICE, []]) {
      expect(await strict.outcome(token, { headers })).toBe(
        "503 UNAVAILABLE: it is not known now whether the token was revoked",
      );
      expect(await strict.outcome(token, { headers, exposure: "PUBLIC" })).toBe("passed");
    }
    await strict.close();
  });

  test.each<[string, Error]>([
    ["a fault", new Error("broken")],
    ["a fault with a code", Object.assign(new Error("broken"), { code: "UNAVAILABLE" })],
    ["INTERNAL", new ServiceError("INTERNAL", "broken")],
    ["INVALID_ARGUMENT", new ServiceError("INVALID_ARGUMENT", "broken")],
  ])("%s while the token is looked at is not a wrong token", async (_name, error) => {
    const gateway = new GatewayHeadersAuthenticator();
    const request = callOf({ headers: ALICE });
    request.peerIsTrusted = true;
    for (const authenticate of [
      () => Promise.reject(error),
      () => {
        throw error;
      },
    ]) {
      const hybrid = new HybridAuthenticator({ name: "jwt", authenticate }, gateway);
      await expect(async () => hybrid.authenticate(request)).rejects.toThrow("broken");
    }
  });

  test("without a valid token, the headers are used", async () => {
    for (const token of [
      undefined,
      "junk",
      world.token({ exp: world.seconds - 99, iat: 1 }),
      `${world.token()}x`,
    ]) {
      const call = world.call(token, { headers: ALICE });
      await world.run(call);
      expect(call.principal).toMatchObject({ subjectId: "alice", source: "gateway" });
    }
  });

  test("an invalid token without valid headers is refused", async () => {
    expect(await world.outcome("junk")).toContain("401 UNAUTHORIZED: invalid token");
    expect(await world.outcome("junk", { headers: ALICE, peer: STRANGER })).toContain("401");
    expect(await world.outcome(undefined)).toBe(MISSING);
  });

  test("ambiguous headers are refused, whatever the token", async () => {
    const headers: SentHeaders = [["x-svc-external-sub", "a,b"]];
    expect(await world.outcome(world.token(), { headers })).toContain("400");
    expect(await world.outcome("junk", { headers })).toContain("400");
    expect(await world.outcome("junk", { headers, exposure: "PUBLIC" })).toContain("400");
  });

  test("while the provider is down, the headers are used; without them 503", async () => {
    const own = await JwtWorld.create({ mode: "hybrid" });
    await own.close();
    const call = own.call(own.token(), { headers: ALICE });
    await own.run(call);
    expect(call.principal).toMatchObject({ subjectId: "alice", source: "gateway" });
    expect(await own.outcome(own.token())).toBe("503 UNAVAILABLE: unavailable");
    expect(await own.outcome(own.token(), { headers: ALICE, peer: STRANGER })).toContain("503");
  });
});

describe("further authenticators", () => {
  const cookie = (authenticate: Authenticator["authenticate"]): Authenticator => {
    return { name: "cookie", authenticate };
  };
  const principal = { subjectId: "carol" } as never;

  test("are called last, and may be asynchronous", async () => {
    const asked: string[] = [];
    const waits = cookie(async () => void asked.push("waits"));
    const found = cookie(() => ({ principal, credential: "cookie" }));
    const stages = stagesOf({}, {}, { authenticators: [waits, found] });
    expect((await stages.passed({})).principal?.subjectId).toBe("carol");
    expect(asked).toEqual(["waits"]);
    expect(stages.reported).toEqual(["authentication cookie identified"]);
  });

  test("that name an unknown kind of credential identify nobody", async () => {
    const typo = cookie(() => ({ principal, credential: "cookies" as never }));
    const stages = stagesOf({}, {}, { authenticators: [typo] });
    await expect(stages.passed({})).rejects.toThrow(
      "an authenticator names the kind of credential cookies: write one of jwt, ",
    );
  });

  describe("beside the headers of another kind [AUTHN-15]", () => {
    const alice = { subjectId: "alice", subjectType: "user" } as never;
    const robot = { subjectId: "alice", subjectType: "service_account" } as never;
    const is = (who: never) => cookie(() => ({ principal: who, credential: "cookie" }));
    const isLater = (who: never) => cookie(async () => ({ principal: who, credential: "cookie" }));
    const fails = (error: Error) => cookie(() => Promise.reject(error));
    const throws = (error: Error) =>
      cookie(() => {
        throw error;
      });
    const none = cookie(() => undefined);
    const differs = "401 UNAUTHORIZED: the credentials of the call name different callers";
    const over = new ServiceError("UNAUTHORIZED", "the session is over");

    test.each<[string, Authenticator[], string, string[]]>([
      ["another caller", [is(principal)], differs, ["cookie rejected"]],
      ["another caller, asynchronously", [isLater(principal)], differs, ["cookie rejected"]],
      ["another type of the same id", [is(robot)], differs, ["cookie rejected"]],
      [
        "another caller after the same one",
        [is(alice), is(principal)],
        differs,
        ["cookie rejected"],
      ],
      ["another caller after nobody", [none, isLater(principal)], differs, ["cookie rejected"]],
      [
        "one that cannot be checked",
        [fails(new ServiceError("UNAVAILABLE"))],
        "503 UNAVAILABLE: unavailable",
        ["cookie unavailable"],
      ],
      ["one that is broken", [throws(new Error("broken"))], "Error: broken", ["cookie rejected"]],
      ["one that is over", [fails(over)], "passed", ["cookie rejected", "gateway identified"]],
      [
        "one that is over at once",
        [throws(over)],
        "passed",
        ["cookie rejected", "gateway identified"],
      ],
      ["the same caller", [is(alice)], "passed", ["gateway identified"]],
      ["the same caller, asynchronously", [isLater(alice)], "passed", ["gateway identified"]],
      ["nobody", [none], "passed", ["gateway identified"]],
    ])("%s", async (_what, authenticators, outcome, counted) => {
      const stages = stagesOf({}, {}, { authenticators });
      const found = await stages.outcome({ headers: ALICE }).catch(String);
      expect(found).toBe(outcome);
      expect(stages.reported).toEqual(counted.map((event) => `authentication ${event}`));
    });

    test("a PUBLIC call of two callers has none", async () => {
      const stages = stagesOf({}, {}, { authenticators: [is(principal)] });
      const call = await stages.passed({ headers: ALICE, exposure: "PUBLIC" });
      expect([call.principal, call.credential]).toEqual([undefined, "none"]);
    });

    test("a service with an internal token is itself", async () => {
      const stages = stagesOf({ internal_call }, {}, { authenticators: [is(principal)] });
      const headers: SentHeaders = [["x-svc-internal-token", INTERNAL_TOKEN]];
      expect((await stages.passed({ headers })).credential).toBe("internal");
    });
  });

  test.each<[string, Authenticator["authenticate"]]>([
    ["asynchronously", () => Promise.reject(new Error("broken"))],
    [
      "synchronously",
      () => {
        throw new Error("broken");
      },
    ],
    // The code of an error that is not a ServiceError means nothing.
    [
      "with a code",
      () => Promise.reject(Object.assign(new Error("broken"), { code: "UNAVAILABLE" })),
    ],
  ])("one that fails %s refuses the call, even of PUBLIC methods", async (_when, fails) => {
    const broken = stagesOf({}, {}, { authenticators: [cookie(fails)] });
    await expect(async () => broken.passed({})).rejects.toThrow("broken");
    await expect(async () => broken.passed({ exposure: "PUBLIC" })).rejects.toThrow("broken");
    expect(broken.reported).toEqual(Array(2).fill("authentication cookie rejected"));
  });

  test("one that is unavailable is counted as such, and PUBLIC calls pass without a caller", async () => {
    const down = stagesOf(
      {},
      {},
      { authenticators: [cookie(() => Promise.reject(new ServiceError("UNAVAILABLE")))] },
    );
    expect(await down.outcome({})).toBe("503 UNAVAILABLE: unavailable");
    expect((await down.passed({ exposure: "PUBLIC" })).principal).toBeUndefined();
    expect(down.reported).toEqual(Array(2).fill("authentication cookie unavailable"));
  });

  test("a call that has ended gets no caller", async () => {
    const late = stagesOf(
      {},
      {},
      {
        authenticators: [cookie(async () => ({ principal, credential: "cookie" }))],
      },
    );
    const call = callOf({});
    const done = late.run(call);
    call.abort(new ServiceError("DEADLINE_EXCEEDED"));
    await expect(done).rejects.toThrow("deadline exceeded");
    expect(call.principal).toBeUndefined();
  });

  test("synchronous stages return nothing", () => {
    const stages = stagesOf({ internal_call });
    expect(stages.run(callOf({ headers: ALICE }))).toBeUndefined();
    expect(stages.run(callOf({ exposure: "PUBLIC" }))).toBeUndefined();
  });
});
