import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, describe, expect, test } from "vitest";
import type { AccessPolicy, AccessResourcePart } from "../../../src/api/format.ts";
import { AuthzError, type AuthzErrorCode } from "../../../src/authz/engine/authz-error.ts";
import type { AuthorizationEngine } from "../../../src/authz/engine/engine.ts";
import type { CallOptions } from "../../../src/authz/engine/requests.ts";
import {
  type AuthorizationOptions,
  createAuthorization,
} from "../../../src/runtime/authorization/authorization-stage.ts";
import type { Call } from "../../../src/runtime/call/call.ts";
import type { CredentialKind } from "../../../src/runtime/call/credential-kinds.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { NO_EVENTS } from "../../../src/runtime/events/runtime-events.ts";
import { engineOf, writeAll } from "../../authz/embedded/engine-of.ts";
import { callOf, methodOf, principalOf } from "./calls.ts";
import { messageOf, serviceMethod } from "./messages.ts";

const engine = await engineOf(`definition user {}
definition service {}
definition doc { relation viewer: user | service\n permission view = viewer
}`);
await writeAll(engine, ["doc:d1#viewer@user:alice", "doc:acme/d1#viewer@user:alice"]);
afterAll(() => engine.close());

const outcomes: string[] = [];
const events = { ...NO_EVENTS, authorization: (outcome: string) => void outcomes.push(outcome) };

const stageOf = (options: Partial<AuthorizationOptions> = {}) =>
  createAuthorization({
    engine,
    enabled: true,
    devAllowAll: false,
    authnDisabled: false,
    events,
    ...options,
  });

/** The outcome of a call: the code, or the decision. */
async function outcome(call: Call, options?: Partial<AuthorizationOptions>): Promise<string> {
  outcomes.length = 0;
  try {
    await stageOf(options)(call);
    return call.decision ?? "passed";
  } catch (error) {
    expect(error).toBeInstanceOf(ServiceError);
    return (error as ServiceError).code;
  }
}

function authorized(id: "*" | readonly AccessResourcePart[], of: { audience?: string } = {}) {
  const policy: Partial<AccessPolicy> = {
    exposure: "AUTHORIZED",
    authz: {
      action: "view",
      audience: of.audience ?? "user",
      resource: { type: "doc", id },
      mode: "CHECK_ONLY",
    },
  };
  return methodOf(policy, { descriptor: serviceMethod("One") });
}

const D1 = [{ kind: "literal", text: "d1" }] as const;
const alice = principalOf();
const hub = principalOf({ subjectType: "service", subjectId: "hub", source: "internal" });

describe("exposure", () => {
  type Exposure = AccessPolicy["exposure"];
  test.each<[Exposure, CredentialKind, string]>([
    ["PUBLIC", "none", "passed"],
    ["PUBLIC", "jwt", "passed"],
    ["AUTHENTICATED", "none", "UNAUTHORIZED"],
    ["AUTHENTICATED", "gateway", "passed"],
    ["AUTHENTICATED", "internal", "passed"],
    ["AUTHORIZED", "none", "UNAUTHORIZED"],
    ["AUTHORIZED", "jwt", "allowed"],
    ["AUTHORIZED", "internal", "FORBIDDEN"],
    ["INTERNAL", "none", "UNAUTHORIZED"],
    ["INTERNAL", "jwt", "FORBIDDEN"],
    ["INTERNAL", "gateway", "FORBIDDEN"],
    ["INTERNAL", "cookie", "FORBIDDEN"],
    ["INTERNAL", "system", "FORBIDDEN"],
    ["INTERNAL", "internal", "allowed"],
    ["SYSTEM", "none", "UNAUTHORIZED"],
    ["SYSTEM", "jwt", "FORBIDDEN"],
    ["SYSTEM", "internal", "FORBIDDEN"],
    ["SYSTEM", "system", "allowed"],
  ])(
    "%s for a caller by %s: %s [EXP-2, EXP-3, EXP-4, EXP-5, AUTHZ-1]",
    async (exposure, credential, expected) => {
      const method = exposure === "AUTHORIZED" ? authorized(D1) : methodOf({ exposure });
      const principal = credential === "internal" || credential === "system" ? hub : alice;
      const call = callOf(method, credential === "none" ? {} : { principal, credential });
      expect(await outcome(call)).toBe(expected);
      expect(call.decision === "denied").toBe(expected === "FORBIDDEN");
    },
  );

  test("an unidentified caller gets the missing credential as reason [AUTHN-11]", async () => {
    const call = callOf(authorized(D1));
    await expect(async () => stageOf()(call)).rejects.toMatchObject({
      message: "missing principal",
      status: 401,
    });
  });
});

test.each<[string, Partial<AuthorizationOptions>, boolean, string]>([
  ["checks are off", { enabled: false }, true, "passed"],
  ["checks are off, without a caller", { enabled: false }, false, "UNAUTHORIZED"],
  ["all is allowed", { devAllowAll: true }, true, "allowed"],
  ["all is allowed, without a caller", { devAllowAll: true }, false, "UNAUTHORIZED"],
  ["authentication is disabled", { authnDisabled: true }, false, "UNAUTHORIZED"],
  [
    "authentication is disabled and checks are off",
    { authnDisabled: true, enabled: false },
    false,
    "passed",
  ],
  [
    "authentication is disabled and all is allowed",
    { authnDisabled: true, devAllowAll: true },
    false,
    "passed",
  ],
  ["authentication is disabled, with a caller", { authnDisabled: true }, true, "FORBIDDEN"],
])("AUTHORIZED if %s", async (_, options, isIdentified, expected) => {
  const call = callOf(
    authorized([{ kind: "literal", text: "d2" }]),
    isIdentified ? { principal: alice } : {},
  );
  expect(await outcome(call, options)).toBe(expected);
});

test("INTERNAL and SYSTEM calls are refused if authentication is disabled", async () => {
  for (const exposure of ["INTERNAL", "SYSTEM"] as const) {
    const call = callOf(methodOf({ exposure }));
    expect(await outcome(call, { authnDisabled: true, enabled: false })).toBe("UNAUTHORIZED");
  }
});

test("without an engine, calls that need a check are refused", async () => {
  const engine = undefined;
  for (const id of ["*", D1] as const) {
    const call = () => callOf(authorized(id), { principal: alice });
    await expect(async () => stageOf({ engine })(call())).rejects.toThrow("there is no engine");
    expect(await outcome(call(), { engine, enabled: false })).toBe("passed");
    expect(await outcome(call(), { engine, devAllowAll: true })).toBe("allowed");
  }
});

test("an unknown exposure refuses every call [EXP-6]", async () => {
  for (const exposure of ["public", "", "toString", undefined]) {
    const call = callOf(methodOf({ exposure } as never), { principal: alice });
    await expect(async () => stageOf()(call)).rejects.toThrow();
    expect(call.decision).not.toBe("allowed");
  }
});

test.each([undefined, null, "true", 1, {}])(
  "an engine result of %j is not an allowed decision",
  async (allowed) => {
    const answer = { allowed, revision: "" } as never;
    const strange = { check: async () => answer, checkAny: async () => answer };
    for (const engine of [strange, { ...strange, checkNow: () => answer }]) {
      for (const id of ["*", D1] as const) {
        const call = callOf(authorized(id), { principal: alice });
        expect(await outcome(call, { engine: engine as never })).toBe("FORBIDDEN");
      }
    }
  },
);

test("AUTHENTICATED passes without a caller only if authentication is disabled [EXP-2]", async () => {
  const nobody = () => callOf(methodOf({ exposure: "AUTHENTICATED" }));
  expect(await outcome(nobody(), { authnDisabled: true })).toBe("passed");
  expect(await outcome(nobody(), { enabled: false })).toBe("UNAUTHORIZED");
  expect(await outcome(nobody(), { devAllowAll: true })).toBe("UNAUTHORIZED");
});

test("INTERNAL and SYSTEM require their tokens even if all checks allow or are off [EXP-4, EXP-5]", async () => {
  for (const exposure of ["INTERNAL", "SYSTEM"] as const) {
    for (const options of [{ enabled: false }, { devAllowAll: true }, { authnDisabled: true }]) {
      for (const credential of ["jwt", "gateway", "cookie"] as const) {
        const call = callOf(methodOf({ exposure }), { principal: alice, credential });
        expect(await outcome(call, options)).toBe("FORBIDDEN");
      }
    }
  }
});

test("a check of an engine in this process is synchronous", () => {
  const call = callOf(authorized(D1), { principal: alice });
  expect(stageOf()(call)).toBeUndefined();
  expect(call.decision).toBe("allowed");
});

describe("a resource", () => {
  const ID = { kind: "field", path: "id" } as const;
  const PROJECT = { kind: "field", path: "project" } as const;
  const SLASH = { kind: "literal", text: "/" } as const;
  const ORGANIZATION = { kind: "principal", field: "organization_id" } as const;
  const P = { kind: "literal", text: "p" } as const;
  const request = (init: object) =>
    create(messageOf("a.v1.Request"), init as MessageInitShape<ReturnType<typeof messageOf>>);
  const both = (id: string, project: string) =>
    request({ id, target: { case: "project", value: project } });

  test.each<[string, readonly AccessResourcePart[], unknown, string, string]>([
    ["an empty field", [ID], request({}), "INVALID_ARGUMENT", "the field id is missing"],
    [
      "a userset",
      [ID],
      request({ id: "d1#viewer" }),
      "INVALID_ARGUMENT",
      "makes an invalid object id",
    ],
    ["a wildcard", [ID], request({ id: "*" }), "INVALID_ARGUMENT", "makes an invalid object id"],
    ["white space", [ID], request({ id: "d 1" }), "INVALID_ARGUMENT", "makes an invalid object id"],
    [
      "a line break",
      [ID],
      request({ id: "d1\n" }),
      "INVALID_ARGUMENT",
      "makes an invalid object id",
    ],
    ["NUL", [ID], request({ id: "d\0" }), "INVALID_ARGUMENT", "makes an invalid object id"],
    [
      "a lone surrogate",
      [ID],
      request({ id: "\ud800" }),
      "INVALID_ARGUMENT",
      "makes an invalid object id",
    ],
    [
      "257 bytes",
      [ID],
      request({ id: "d".repeat(257) }),
      "INVALID_ARGUMENT",
      "makes an invalid object id",
    ],
    [
      "257 bytes in total",
      [{ kind: "literal", text: "dd" }, ID],
      request({ id: "d".repeat(255) }),
      "INVALID_ARGUMENT",
      "the field id makes an invalid object id",
    ],
    [
      "an absent second field",
      [ID, SLASH, PROJECT],
      request({ id: "a" }),
      "INVALID_ARGUMENT",
      "the field project is missing",
    ],
    [
      "a moved separator",
      [ID, SLASH, PROJECT],
      both("acme/d1", "x"),
      "INVALID_ARGUMENT",
      'the field id must not contain "/"',
    ],
  ])("of %s is refused [AUTHZ-4]", async (_, id, message, code, text) => {
    const call = callOf(authorized(id), { principal: alice, request: message });
    await expect(async () => stageOf()(call)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(text),
    });
    expect(call.decision).toBeUndefined();
    expect(outcomes.at(-1)).toBe("invalid");
  });

  test.each([
    ["absent", "", [ORGANIZATION]],
    ["a wildcard", "*", [ORGANIZATION]],
    ["another reference", "acme#viewer", [ORGANIZATION]],
    ["absent, with text around it", "", [P, ORGANIZATION]],
    ["absent, with text after it", "", [ORGANIZATION, SLASH]],
    ["absent, beside a field", "", [ORGANIZATION, SLASH, ID]],
    ["another reference, with text around it", "acme#viewer", [P, ORGANIZATION, SLASH]],
    ["a moved separator", "acme/d1", [ORGANIZATION, SLASH, ID]],
  ])(
    "of a claim that is %s is FORBIDDEN, without a reason [AUTHZ-4]",
    async (_, organizationId, id) => {
      const principal = principalOf({ organizationId });
      const call = callOf(authorized(id), { principal, request: request({ id: "d1" }) });
      await expect(async () => stageOf()(call)).rejects.toMatchObject({
        code: "FORBIDDEN",
        message: "permission denied",
        details: undefined,
      });
      expect(call.decision).toBe("denied");
      expect(call.resource).toBeUndefined();
      expect(outcomes.at(-1)).toBe("denied");
    },
  );

  test.each<[readonly AccessResourcePart[], unknown, string]>([
    [[ID], request({ id: "d1" }), "doc:d1"],
    [[ORGANIZATION, SLASH, ID], request({ id: "d1" }), "doc:acme/d1"],
    [[ID, SLASH, PROJECT], both("acme", "d1"), "doc:acme/d1"],
    [D1, request({}), "doc:d1"],
  ])("is rendered: %j", async (id, message, expected) => {
    const call = callOf(authorized(id), { principal: alice, request: message });
    expect(await outcome(call)).toBe("allowed");
    expect(call.resource).toBe(expected);
    expect(outcomes).toEqual(["allowed"]);
  });

  test.each([
    ["subject_id", "alice"],
    ["username", "alice-name"],
    ["name", "Alice"],
    ["email", "alice@example.com"],
    ["organization_id", "acme"],
    ["source", "jwt"],
  ])("is rendered of the caller's %s", async (field, expected) => {
    const call = callOf(authorized([{ kind: "principal", field }]), { principal: alice });
    expect(await outcome(call)).toBe("FORBIDDEN");
    expect(call.resource).toBe(`doc:${expected}`);
  });

  test("is in the audit event even if the caller has the wrong type, if it is a valid object [AUTHZ-1]", async () => {
    for (const [id, expected] of [
      ["d1", "doc:d1"],
      ["*", undefined],
      ["", undefined],
    ] as const) {
      const call = callOf(authorized([ID]), { principal: hub, request: request({ id }) });
      expect(await outcome(call)).toBe("FORBIDDEN");
      expect(call.resource).toBe(expected);
    }
    const any = callOf(authorized("*"), { principal: hub });
    expect(await outcome(any)).toBe("FORBIDDEN");
    expect(any.resource).toBe("doc:*");
  });

  test.each(["al ice", "", "*", "alice#member", "a".repeat(257), "alice\u00a0", "\ud800"])(
    "of a name that a caller chose is not another object: %j",
    async (username) => {
      const principal = principalOf({ username });
      const id = [{ kind: "principal", field: "username" }] as const;
      const call = callOf(authorized(id), { principal, request: request({}) });
      expect(await outcome(call)).toBe("FORBIDDEN");
      expect(call.resource).toBeUndefined();
    },
  );

  test("type:* requires permission on at least one object [AUTHZ-7]", async () => {
    const call = callOf(authorized("*"), { principal: alice });
    expect(await outcome(call)).toBe("allowed");
    expect(call.resource).toBe("doc:*");
    const bob = callOf(authorized("*"), { principal: principalOf({ subjectId: "bob" }) });
    expect(await outcome(bob)).toBe("FORBIDDEN");
    expect(bob.decision).toBe("denied");
  });
});

test.each([["a b"], ["alice#viewer"], ["*"], ["x".repeat(257)]])(
  "a caller whose id no relationship can have is denied: %s",
  async (subjectId) => {
    const call = callOf(authorized(D1), { principal: principalOf({ subjectId }) });
    expect(await outcome(call)).toBe("FORBIDDEN");
    const any = callOf(authorized("*"), { principal: principalOf({ subjectId }) });
    expect(await outcome(any)).toBe("FORBIDDEN");
  },
);

describe("an engine that cannot answer [AUTHZ-3]", () => {
  const failing = (error: unknown): AuthorizationEngine => ({
    ...({} as AuthorizationEngine),
    kind: "spicedb",
    check: () => Promise.reject(error),
    checkAny: () => Promise.reject(error),
  });

  test.each<[AuthzErrorCode | "TypeError", string, number]>([
    ["UNAVAILABLE", "UNAVAILABLE", 503],
    ["DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED", 504],
    ["INTERNAL", "UNAVAILABLE", 503],
    ["RESOURCE_EXHAUSTED", "UNAVAILABLE", 503],
    ["FAILED_PRECONDITION", "UNAVAILABLE", 503],
    ["INVALID_ARGUMENT", "UNAVAILABLE", 503],
    ["UNIMPLEMENTED", "UNAVAILABLE", 503],
    ["CANCELLED", "UNAVAILABLE", 503],
    ["TypeError", "UNAVAILABLE", 503],
  ])("%s is %s, never a decision", async (code, expected, status) => {
    const error = code === "TypeError" ? new TypeError("secret") : new AuthzError(code, "secret");
    for (const id of ["*", D1] as const) {
      const call = callOf(authorized(id), { principal: alice });
      const stage = stageOf({ engine: failing(error) });
      outcomes.length = 0;
      const failure = await Promise.resolve(stage(call)).catch((error_) => error_);
      expect(failure).toMatchObject({ code: expected, status });
      expect(failure.message).not.toContain("secret");
      expect(call.decision).toBeUndefined();
      expect(outcomes).toEqual(["unavailable"]);
    }
  });

  test("is not a refusal, even of a caller whose id no relationship can have", async () => {
    for (const error of [
      new AuthzError("UNAVAILABLE", "down"),
      Object.assign(new Error("broken"), { code: "INVALID_ARGUMENT" }),
      Object.assign(new Error("broken"), { code: "DEADLINE_EXCEEDED" }),
    ]) {
      for (const id of ["*", D1] as const) {
        const call = callOf(authorized(id), { principal: principalOf({ subjectId: "a b" }) });
        expect(await outcome(call, { engine: failing(error) })).toBe("UNAVAILABLE");
        expect(call.decision).toBeUndefined();
      }
    }
  });

  test("in this process is an error, too, not a decision", async () => {
    for (const [error, expected] of [
      [new TypeError("secret"), "UNAVAILABLE"],
      [new AuthzError("DEADLINE_EXCEEDED", "secret"), "DEADLINE_EXCEEDED"],
    ] as const) {
      const broken: AuthorizationEngine = {
        ...failing(error),
        checkNow: () => {
          throw error;
        },
      };
      const call = callOf(authorized(D1), { principal: alice });
      expect(await outcome(call, { engine: broken })).toBe(expected);
      expect(call.decision).toBeUndefined();
    }
  });

  test("the end of the call is the caller's error, and cancels a remote check", async () => {
    let seen: CallOptions | undefined;
    const slow: AuthorizationEngine = {
      ...failing(undefined),
      check: (_, options) =>
        new Promise((_, reject) => {
          seen = options;
          options?.signal?.addEventListener("abort", () =>
            reject(new AuthzError("CANCELLED", "gone")),
          );
        }),
    };
    const call = callOf(authorized(D1), { principal: alice });
    const decided = Promise.resolve(stageOf({ engine: slow })(call));
    call.abort(new ServiceError("DEADLINE_EXCEEDED"));
    await expect(decided).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect(seen?.signal?.aborted).toBe(true);
    expect(call.decision).toBeUndefined();
  });

  test("type:* ends with the call in any engine, since it may be slow", async () => {
    const seen: (CallOptions | undefined)[] = [];
    for (const kind of ["embedded", "spicedb"] as const) {
      const call = callOf(authorized("*"), { principal: alice });
      const slow: AuthorizationEngine = {
        ...failing(undefined),
        kind,
        checkAny: async (_, options) => {
          seen.push(options);
          return { allowed: true, revision: "" };
        },
      };
      expect(await outcome(call, { engine: slow })).toBe("allowed");
      expect(seen.at(-1)?.signal).toBe(call.signal);
    }
  });

  test("a closed embedded engine is unavailable", async () => {
    const closed = await engineOf(
      "definition user {}\ndefinition doc { relation viewer: user\n permission view = viewer\n}",
    );
    await closed.close();
    expect(await outcome(callOf(authorized(D1), { principal: alice }), { engine: closed })).toBe(
      "UNAVAILABLE",
    );
  });
});
