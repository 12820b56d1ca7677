import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  InternalTokenAuthenticator,
  TokenTable,
} from "../../../../src/runtime/authn/internal/internal-token.ts";
import {
  callOf,
  GATEWAY,
  INTERNAL_TOKEN,
  type SentHeaders,
  STRANGER,
  SYSTEM_TOKEN,
} from "../calls.ts";
import { stagesOf } from "../stages.ts";

const HEADER = "X-Svc-Internal-Token";
const WRONG = "401 UNAUTHORIZED: wrong internal token";
const MISSING = "401 UNAUTHORIZED: missing principal";
const OLD = "hub-token-old-0123456789";
const NEW = "hub-token-new-0123456789";

const UNNAMED = { path: ["token"], caller: "internal", credential: "internal" } as const;
const one = { enabled: true, token: INTERNAL_TOKEN, system_token: SYSTEM_TOKEN };
const several = {
  enabled: true,
  token: [
    { service: "hub", token: OLD },
    { service: "hub", token: NEW },
    { service: "runner", token: INTERNAL_TOKEN },
  ],
};
const stages = stagesOf({ internal_call: one });
const call = (token: string, name = HEADER) => ({
  headers: [[name, token]] as SentHeaders,
  peer: STRANGER,
  exposure: "INTERNAL" as const,
});

describe("2, 43 tokens that are refused [AUTHN-8]", () => {
  test.each([
    ["empty", ""],
    ["blank", " "],
    ["shorter", INTERNAL_TOKEN.slice(0, -1)],
    ["longer", `${INTERNAL_TOKEN}0`],
    ["one character", "i"],
    ["in other case", INTERNAL_TOKEN.toUpperCase()],
    ["with a space", ` ${INTERNAL_TOKEN}`],
    ["very long", "x".repeat(8000)],
    ["joined", `${INTERNAL_TOKEN}, ${INTERNAL_TOKEN}`],
    ["the digest of it", createHash("sha256").update(INTERNAL_TOKEN).digest("hex")],
  ])("%s", async (_name, token) => {
    expect(await stages.outcome(call(token))).toBe(WRONG);
    expect(await stages.outcome({ ...call(token), exposure: "SYSTEM" })).toBe(WRONG);
    expect(await stages.outcome({ ...call(token), exposure: "AUTHENTICATED" })).toBe(WRONG);
    const open = await stages.passed({ ...call(token), exposure: "PUBLIC" });
    expect(open.principal).toBeUndefined();
  });

  test("none", async () => {
    expect(await stages.outcome({ exposure: "INTERNAL" })).toBe(MISSING);
    expect(await stages.outcome({ exposure: "SYSTEM" })).toBe(MISSING);
  });

  test("any, if internal calls are not enabled, from any peer", async () => {
    const off = stagesOf({ internal_call: { ...one, enabled: false } });
    for (const peer of [STRANGER, GATEWAY]) {
      expect(await off.outcome({ ...call(INTERNAL_TOKEN), peer })).toBe(MISSING);
      expect(await off.outcome({ ...call(""), peer })).toBe(MISSING);
    }
    const open = await off.passed({ ...call(INTERNAL_TOKEN), exposure: "PUBLIC" });
    expect(open.headers.all("x-svc-internal-token")).toEqual([]);
  });

  test("any, in the default header if another is configured", async () => {
    const other = stagesOf({ internal_call: { ...one, header: "X-Hub-Secret" } });
    expect(await other.outcome(call(INTERNAL_TOKEN))).toBe(MISSING);
    expect(await other.outcome(call(INTERNAL_TOKEN, "x_hub_secret"))).toContain("400");
    expect(await other.outcome(call(INTERNAL_TOKEN, "X-Hub-Secret"))).toBe("passed");
  });

  test("a second value is not ignored, even if it was not refused earlier", () => {
    const authenticator = new InternalTokenAuthenticator(
      HEADER,
      new TokenTable([{ ...UNNAMED, token: INTERNAL_TOKEN }]),
    );
    const headers: SentHeaders = [
      [HEADER, INTERNAL_TOKEN],
      [HEADER, INTERNAL_TOKEN],
    ];
    expect(() => authenticator.authenticate(callOf({ headers }))).toThrow("wrong internal token");
  });

  test("2 an empty one, even if it was configured", () => {
    const authenticator = new InternalTokenAuthenticator(
      HEADER,
      new TokenTable([
        { ...UNNAMED, token: "" },
        { path: ["system_token"], caller: "system", credential: "system", token: "" },
      ]),
    );
    expect(() => authenticator.authenticate(callOf(call("")))).toThrow("wrong internal token");
  });
});

describe("tokens that are accepted", () => {
  test("one token of any service [AUTHN-10]", async () => {
    const found = await stages.passed(call(INTERNAL_TOKEN));
    expect(found.credential).toBe("internal");
    expect(found.principal).toEqual({
      subjectId: "internal",
      subjectType: "service",
      username: "internal",
      name: "",
      email: "",
      organizationId: "",
      groups: [],
      roles: [],
      scopes: [],
      source: "internal",
    });
    expect(Object.isFrozen(found.principal) && Object.isFrozen(found.principal?.roles)).toBe(true);
  });

  test("the system's [EXP-5]", async () => {
    const found = await stages.passed({ ...call(SYSTEM_TOKEN), exposure: "SYSTEM" });
    expect(found.credential).toBe("system");
    expect(found.principal).toMatchObject({
      subjectId: "system",
      subjectType: "service",
      source: "internal",
    });
  });

  test("several of a service during a rotation, and those of other services [AUTHN-8]", async () => {
    const rotating = stagesOf({ internal_call: several });
    for (const [token, service] of [
      [OLD, "hub"],
      [NEW, "hub"],
      [INTERNAL_TOKEN, "runner"],
    ] as const) {
      expect((await rotating.passed(call(token))).principal?.subjectId).toBe(service);
    }
    expect(await rotating.outcome(call(SYSTEM_TOKEN))).toBe(WRONG);
  });

  test("take precedence over other credentials", async () => {
    const found = await stages.passed({
      headers: [
        [HEADER, INTERNAL_TOKEN],
        ["x-svc-external-sub", "alice"],
        ["authorization", "Bearer junk"],
      ],
    });
    expect(found.principal?.subjectId).toBe("internal");
  });

  test("authorization decides about INTERNAL calls with other credentials", async () => {
    const headers: SentHeaders = [["x-svc-external-sub", "alice"]];
    for (const exposure of ["INTERNAL", "SYSTEM"] as const) {
      expect((await stages.passed({ headers, exposure })).credential).toBe("gateway");
    }
  });
});
