/** The subject type of callers: from the gateway's header, and from a claim of a token. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { subjectTypeClaim } from "../../../src/api/identity-headers.ts";
import { type SentHeaders, STRANGER } from "./calls.ts";
import { JwtWorld } from "./jwt/jwt-world.ts";
import { stagesOf } from "./stages.ts";

const HEADER = "x-svc-subject-type";
const CI: SentHeaders = [["x-svc-external-sub", "ci"]];
const WRONG = ["", "User", "service", "service-account", "user,user", "serviceaccount", "*"];

describe("the header x-svc-subject-type [AUTHN-14]", () => {
  const stages = stagesOf({ mode: "gateway_trusted" });
  const BAD = `400 INVALID_ARGUMENT: the header ${HEADER} must be user or service_account`;
  const typeOf = async (headers: SentHeaders) =>
    (await stages.passed({ headers })).principal?.subjectType;

  test.each(WRONG)("is refused, whoever is named beside it: %j", async (type) => {
    for (const named of [CI, []]) {
      for (const exposure of ["PUBLIC", "AUTHENTICATED"] as const) {
        const headers: SentHeaders = [...named, [HEADER, type]];
        expect(await stages.outcome({ headers, exposure })).toBe(BAD);
      }
    }
  });

  test.each(["x-svc-subject_type", "x.svc.subject.type", "x-svc-subject-type-bin"])(
    "is refused as %s",
    async (name) => {
      expect(await stages.outcome({ headers: [...CI, [name, "user"]] })).toBe(
        `400 INVALID_ARGUMENT: the header ${name} is another spelling of an identity header`,
      );
    },
  );

  test("is refused if it occurs twice, with whatever values", async () => {
    for (const second of ["user", "service_account"]) {
      const headers: SentHeaders = [...CI, [HEADER, "user"], [HEADER, second]];
      expect(await stages.outcome({ headers })).toBe(
        `400 INVALID_ARGUMENT: the header ${HEADER} must occur once`,
      );
    }
  });

  test("names nobody by itself", async () => {
    const headers: SentHeaders = [[HEADER, "service_account"]];
    expect(await stages.outcome({ headers })).toBe("401 UNAUTHORIZED: missing principal");
  });

  test("counts for nothing, and is counted, from a peer that is not trusted", async () => {
    const own = stagesOf({ mode: "gateway_trusted" });
    const headers: SentHeaders = [[HEADER, "robot"]];
    const call = await own.passed({ headers, peer: STRANGER, exposure: "PUBLIC" });
    expect([...call.headers.names()]).toEqual([]);
    expect(own.reported).toEqual(["identityHeadersDropped"]);
  });

  test("decides the type, with claim headers and with verified ones; absent is user", async () => {
    const verified: SentHeaders = [
      ["x-svc-auth-verified", "true"],
      ["x-svc-user-id", "ci"],
    ];
    for (const named of [CI, verified]) {
      expect(await typeOf(named)).toBe("user");
      for (const type of ["user", "service_account"]) {
        expect(await typeOf([...named, [HEADER, type]])).toBe(type);
      }
    }
  });

  test("does not change a service", async () => {
    const token = "0123456789abcdef";
    const own = stagesOf({ internal_call: { enabled: true, token } });
    const headers: SentHeaders = [
      [HEADER, "service_account"],
      ["x-svc-internal-token", token],
    ];
    expect((await own.passed({ headers })).principal?.subjectType).toBe("service");
  });
});

describe("the claim of a token [AUTHN-14]", () => {
  let world: JwtWorld;
  beforeAll(async () => {
    world = await JwtWorld.create({ oidc: { subject_type_claim: "kind" } });
  });
  afterAll(() => world.close());

  const typeOf = async (of: JwtWorld, claims: Record<string, unknown>) => {
    const call = of.call(of.token(claims));
    await of.run(call);
    return call.principal?.subjectType;
  };

  test.each([...WRONG, null, true, 1, ["user"], { type: "user" }])(
    "is refused: %j",
    async (kind) => {
      for (let round = 0; round < 2; round++) {
        expect(await world.outcome(world.token({ kind }))).toBe(
          "401 UNAUTHORIZED: invalid token: its subject type is not valid",
        );
      }
    },
  );

  test("decides the type; absent is user", async () => {
    expect(await typeOf(world, {})).toBe("user");
    expect(await typeOf(world, { kind: "user" })).toBe("user");
    expect(await typeOf(world, { kind: "service_account" })).toBe("service_account");
    expect(await typeOf(world, { subject_type: "service_account" })).toBe("user");
  });

  test("keeps two callers of one id apart, also once their tokens are known", async () => {
    for (let round = 0; round < 2; round++) {
      expect(await typeOf(world, { kind: "service_account" })).toBe("service_account");
      expect(await typeOf(world, { kind: "user" })).toBe("user");
    }
    expect(world.reported).toContain("cache jwt hit");
  });

  test("is ignored from another issuer than IAM, whatever it says", async () => {
    const foreign = await JwtWorld.create();
    for (const subject_type of ["service_account", "robot", 7]) {
      expect(await typeOf(foreign, { subject_type })).toBe("user");
    }
    await foreign.close();
  });

  test("is subject_type of IAM's own issuer, unless another one is configured", () => {
    for (const issuer of [
      "https://iam.example.com/v1/iam/oidc",
      "http://localhost:18080/v1/iam/oidc",
    ]) {
      expect(subjectTypeClaim(issuer, undefined)).toBe("subject_type");
      expect(subjectTypeClaim(issuer, "kind")).toBe("kind");
    }
    for (const issuer of [
      "https://id.example.com",
      "https://id.example.com/v1/iam/oidc/",
      "https://id.example.com/tenants/v1/iam/oidc",
      "https://id.example.com/?/v1/iam/oidc",
      "https://id.example.com/#/v1/iam/oidc",
      "not a URL/v1/iam/oidc",
    ]) {
      expect(subjectTypeClaim(issuer, undefined), issuer).toBeUndefined();
      expect(subjectTypeClaim(issuer, "kind")).toBe("kind");
    }
  });

  test("and the service reads IAM's without a key of its configuration", async () => {
    const iam = await JwtWorld.create({}, {}, undefined, "/v1/iam/oidc");
    const typ = "at+jwt";
    const token = iam.token({ subject_type: "service_account" }, { typ });
    expect(await iam.verifier.verify(token)).toMatchObject({
      active: true,
      principal: { subjectType: "service_account" },
    });
    expect(await iam.outcome(iam.token({ subject_type: "robot" }, { typ }))).toContain(
      "its subject type is not valid",
    );
    await iam.close();
  });
});

describe("hybrid [AUTHN-3, AUTHN-14]", () => {
  let world: JwtWorld;
  beforeAll(async () => {
    world = await JwtWorld.create({ mode: "hybrid", oidc: { subject_type_claim: "kind" } });
  });
  afterAll(() => world.close());
  const APART = "401 UNAUTHORIZED: the token and the identity headers name different callers";
  const headersOf = (type: string | undefined): SentHeaders => [
    ["x-svc-external-sub", "alice"],
    ...(type === undefined ? [] : [[HEADER, type] as const]),
  ];

  test.each([
    ["service_account", undefined, APART],
    ["service_account", "user", APART],
    [undefined, "service_account", APART],
    ["user", "service_account", APART],
    ["user", undefined, "passed"],
    [undefined, "user", "passed"],
    ["service_account", "service_account", "passed"],
  ])("a token of a %s and headers of a %s: %s", async (kind, type, expected) => {
    for (let round = 0; round < 2; round++) {
      expect(await world.outcome(world.token({ kind }), { headers: headersOf(type) })).toBe(
        expected,
      );
    }
  });

  test("a bad header is not rescued by a token, nor a bad claim by anything but headers", async () => {
    expect(await world.outcome(world.token(), { headers: headersOf("robot") })).toContain("400");
    const token = world.token({ kind: "robot" });
    expect(await world.outcome(token)).toContain("its subject type is not valid");
    const call = world.call(token, { headers: headersOf("service_account") });
    await world.run(call);
    expect(call.principal).toMatchObject({ subjectType: "service_account", source: "gateway" });
  });
});
