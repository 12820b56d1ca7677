import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Authenticator } from "../../../src/runtime/authn/authenticator.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { callOf, INTERNAL_TOKEN, type SentHeaders, STRANGER } from "./calls.ts";
import { JwtWorld } from "./jwt-world.ts";
import { stagesOf } from "./stages.ts";

const MISSING = "401 UNAUTHORIZED: missing principal";
const ALICE: SentHeaders = [["x-svc-external-sub", "alice"]];
const internal_call = { enabled: true, token: INTERNAL_TOKEN };

describe("disabled", () => {
  for (const authn of [
    { mode: "disabled" },
    { enabled: false },
    { enabled: false, mode: "hybrid" },
  ]) {
    test(`${JSON.stringify(authn)}: nobody is identified by headers or tokens`, async () => {
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

describe("gateway_trusted", () => {
  test("does not look at tokens", async () => {
    const stages = stagesOf({ mode: "gateway_trusted" });
    const headers: SentHeaders = [
      ["authorization", "Bearer x"],
      ["authorization", "Bearer y"],
    ];
    expect(await stages.outcome({ headers })).toBe(MISSING);
    expect(await stages.outcome({ headers: [...headers, ...ALICE] })).toBe("passed");
  });
});

describe("idp_jwt", () => {
  test("does not look at identity headers", async () => {
    const world = await JwtWorld.create();
    expect(await world.outcome(undefined, { headers: ALICE })).toBe(MISSING);
    const call = world.call(world.token({ sub: "bob" }), { headers: ALICE });
    await world.run(call);
    expect(call.principal?.subjectId).toBe("bob");
    await world.close();
  });
});

describe("10 hybrid", () => {
  let world: JwtWorld;
  beforeAll(async () => {
    world = await JwtWorld.create({ mode: "hybrid" });
  });
  afterAll(() => world.close());

  test("a token for one and headers for another", async () => {
    for (let round = 0; round < 2; round++) {
      expect(await world.outcome(world.token({ sub: "bob" }), { headers: ALICE })).toBe(
        "401 UNAUTHORIZED: the token and the identity headers name different callers",
      );
    }
    const call = world.call(world.token({ sub: "bob" }), { headers: ALICE, exposure: "PUBLIC" });
    await world.run(call);
    expect(call.principal).toBeUndefined();
  });

  test("a token, and headers of a stranger for another", async () => {
    const call = world.call(world.token({ sub: "bob" }), { headers: ALICE, peer: STRANGER });
    await world.run(call);
    expect(call.principal).toMatchObject({ subjectId: "bob", source: "jwt" });
  });

  test("both for the same one: the token's", async () => {
    const call = world.call(world.token(), { headers: ALICE });
    await world.run(call);
    expect(call.principal).toMatchObject({ subjectId: "alice", source: "jwt" });
  });

  test("without a token, or with a wrong one, the headers", async () => {
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

  test("a wrong token without headers that count", async () => {
    expect(await world.outcome("junk")).toContain("401 UNAUTHORIZED: invalid token");
    expect(await world.outcome("junk", { headers: ALICE, peer: STRANGER })).toContain("401");
    expect(await world.outcome(undefined)).toBe(MISSING);
  });

  test("headers that are not clear are refused, whatever the token", async () => {
    const headers: SentHeaders = [["x-svc-external-sub", "a,b"]];
    expect(await world.outcome(world.token(), { headers })).toContain("400");
    expect(await world.outcome("junk", { headers })).toContain("400");
    expect(await world.outcome("junk", { headers, exposure: "PUBLIC" })).toContain("400");
  });

  test("while the provider is down, the headers; without them 503", async () => {
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

  test("are asked last, and may wait", async () => {
    const asked: string[] = [];
    const waits = cookie(async () => void asked.push("waits"));
    const found = cookie(() => ({ principal, credential: "cookie" }));
    const stages = stagesOf({}, {}, { further: [waits, found] });
    expect((await stages.passed({})).principal?.subjectId).toBe("carol");
    expect((await stages.passed({ headers: ALICE })).principal?.subjectId).toBe("alice");
    expect(asked).toEqual(["waits"]);
    expect(stages.told).toEqual([
      "authentication cookie identified",
      "authentication gateway identified",
    ]);
  });

  test("one that is broken lets nobody in, also not to PUBLIC methods", async () => {
    const broken = stagesOf(
      {},
      {},
      { further: [cookie(() => Promise.reject(new Error("broken")))] },
    );
    await expect(broken.passed({})).rejects.toThrow("broken");
    await expect(broken.passed({ exposure: "PUBLIC" })).rejects.toThrow("broken");
  });

  test("a call that is over gets no caller", async () => {
    const late = stagesOf(
      {},
      {},
      {
        further: [cookie(async () => ({ principal, credential: "cookie" }))],
      },
    );
    const call = callOf({});
    const done = late.run(call);
    call.abort(new ServiceError("DEADLINE_EXCEEDED"));
    await expect(done).rejects.toThrow("deadline exceeded");
    expect(call.principal).toBeUndefined();
  });

  test("stages that need not wait return nothing", () => {
    const stages = stagesOf({ internal_call });
    expect(stages.run(callOf({ headers: ALICE }))).toBeUndefined();
    expect(stages.run(callOf({ exposure: "PUBLIC" }))).toBeUndefined();
  });
});
