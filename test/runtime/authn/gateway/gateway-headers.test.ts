import { describe, expect, test } from "vitest";
import { GatewayHeadersAuthenticator } from "../../../../src/runtime/authn/gateway/gateway-headers.ts";
import { callOf, type SentHeaders, STRANGER } from "../calls.ts";
import { stagesOf } from "../stages.ts";

const stages = stagesOf({ mode: "gateway_trusted" });
const VERIFIED: SentHeaders = [["x-svc-auth-verified", "TRUE"]];
const BAD_SUBJECT = "400 INVALID_ARGUMENT: the subject id in the identity headers is not valid";

describe("headers that name no caller, or name one ambiguously", () => {
  test.each<[string, SentHeaders, string]>([
    ["none", [], "401 UNAUTHORIZED: missing principal"],
    ["verified, but without a user", VERIFIED, "401 UNAUTHORIZED: missing principal"],
    [
      "9 an empty user id",
      [...VERIFIED, ["x-svc-user-id", ""]],
      "401 UNAUTHORIZED: missing principal",
    ],
    ["an unverified user id", [["x-svc-user-id", "alice"]], "401 UNAUTHORIZED: missing principal"],
    [
      "a principal with a failed verification",
      [
        ["x-svc-auth-verified", "false"],
        ["x-svc-principal", "alice"],
      ],
      "401 UNAUTHORIZED: missing principal",
    ],
    [
      "x-svc-subject alone",
      [...VERIFIED, ["x-svc-subject", "alice"]],
      "401 UNAUTHORIZED: missing principal",
    ],
    ["9 a blank user id", [...VERIFIED, ["x-svc-user-id", " "]], BAD_SUBJECT],
    ["9 comma-joined", [...VERIFIED, ["x-svc-user-id", "alice, admin"]], BAD_SUBJECT],
    ["9 comma-joined without space", [["x-svc-external-sub", "alice,admin"]], BAD_SUBJECT],
    ["9 a space", [["x-svc-external-sub", "alice admin"]], BAD_SUBJECT],
    ["9 a wildcard", [["x-svc-external-sub", "*"]], BAD_SUBJECT],
    ["9 a member set", [["x-svc-external-sub", "dev#member"]], BAD_SUBJECT],
    ["9 too long", [["x-svc-external-sub", "a".repeat(257)]], BAD_SUBJECT],
    [
      "9 an invalid one before a valid one",
      [...VERIFIED, ["x-svc-principal", "#"], ["x-svc-user-id", "alice"]],
      BAD_SUBJECT,
    ],
    [
      "a malformed JSON list",
      [...VERIFIED, ["x-svc-user-id", "alice"], ["x-svc-roles", '["a"']],
      "400 INVALID_ARGUMENT: the header x-svc-roles must be a list with commas, or a JSON array of strings",
    ],
    [
      "a JSON list of numbers",
      [...VERIFIED, ["x-svc-user-id", "alice"], ["x-svc-groups", "[1]"]],
      "400 INVALID_ARGUMENT: the header x-svc-groups must be a list with commas, or a JSON array of strings",
    ],
    [
      "a JSON list with an escaped line break",
      [...VERIFIED, ["x-svc-user-id", "alice"], ["x-svc-groups", '["a\\nb"]']],
      "400 INVALID_ARGUMENT: the header x-svc-groups must be a list with commas, or a JSON array of strings",
    ],
    [
      "a JSON list with a number",
      [...VERIFIED, ["x-svc-user-id", "alice"], ["x-svc-groups", '["dev", 1]']],
      "400 INVALID_ARGUMENT: the header x-svc-groups must be a list with commas, or a JSON array of strings",
    ],
    [
      "a JSON list with a lone surrogate",
      [...VERIFIED, ["x-svc-user-id", "alice"], ["x-svc-groups", '["\\ud800"]']],
      "400 INVALID_ARGUMENT: the header x-svc-groups must be a list with commas, or a JSON array of strings",
    ],
    [
      "an item that is too long",
      [...VERIFIED, ["x-svc-user-id", "alice"], ["x-svc-roles", `a,${"b".repeat(257)}`]],
      "400 INVALID_ARGUMENT: the header x-svc-roles has an item that is too long",
    ],
    [
      "too many items",
      [...VERIFIED, ["x-svc-user-id", "alice"], ["x-svc-scopes", "a,".repeat(1001)]],
      "400 INVALID_ARGUMENT: the header x-svc-scopes has more than 1000 items",
    ],
  ])("%s", async (_name, headers, outcome) => {
    expect(await stages.outcome({ headers })).toBe(outcome);
  });
});

describe("the subject id is the first non-empty header [HDR-5]", () => {
  const all: SentHeaders = [
    ["x-svc-principal", "p"],
    ["x-svc-user-id", "u"],
    ["x-svc-external-id", "i"],
    ["x-svc-external-sub", "s"],
  ];
  for (const [name, verified] of [
    ["verified", true],
    ["of claims", false],
  ] as const) {
    test(`headers that are ${name}`, async () => {
      const found: (string | undefined)[] = [];
      for (let bits = 0; bits < 16; bits++) {
        const headers = all.map(([key, value], index): [string, string] => [
          key,
          bits & (1 << index) ? value : "",
        ]);
        const sent = verified ? [...VERIFIED, ...headers] : headers;
        found.push(
          (await stages.passed({ headers: sent, exposure: "PUBLIC" })).principal?.subjectId,
        );
      }
      const none = undefined;
      expect(found).toEqual(
        verified
          ? Array.from({ length: 16 }, (_, bits) =>
              ["p", "u", "i", "s"].find((_, at) => bits & (1 << at)),
            )
          : [none, none, none, none, "i", "i", "i", "i", "s", "s", "s", "s", "i", "i", "i", "i"],
      );
    });
  }
});

test.each<[header: string, value: string, filled: object]>([
  ["x-svc-external-sub", "alice", { subjectId: "alice" }],
  ["x-svc-external-id", "i-1", { subjectId: "i-1" }],
  ["x-svc-external-email", "a@example.com", { email: "a@example.com" }],
  ["x-svc-external-name", "Alice", { name: "Alice", username: "Alice" }],
  ["x-svc-external-username", "aw", { username: "aw" }],
  ["x-svc-external-display-name", "Alice Liddell", { name: "Alice Liddell" }],
  ["x-svc-external-owner", "acme", { organizationId: "acme" }],
  ["x-svc-external-scope", "openid profile", { scopes: ["openid", "profile"] }],
  ["x-svc-external-issuer", "https://id.example.com", {}],
])("the claim header %s fills its field only [HDR-10]", async (header, value, filled) => {
  const nobody: SentHeaders = [["x-svc-external-sub", "somebody"]];
  const { principal: before } = await stages.passed({ headers: nobody });
  const sent = header === "x-svc-external-sub" ? [] : nobody;
  const { principal } = await stages.passed({ headers: [...sent, [header, value]] });
  expect(principal).toEqual({ ...before, ...filled });
  expect(principal?.source).toBe("gateway");
});

describe("the principal", () => {
  test("of verified headers; missing values come from the claims [AUTHN-9]", async () => {
    const call = await stages.passed({
      headers: [
        ...VERIFIED,
        ["x-svc-user-id", "alice"],
        ["x-svc-org-id", "acme"],
        ["x-svc-roles", "admin, editor,,viewer"],
        ["x-svc-groups", '["dev", "\\u738b"]'],
        ["x-svc-external-scope", "openid profile"],
        ["x-svc-external-owner", "other"],
        ["x-svc-external-email", "alice@example.com"],
        ["x-svc-external-name", "Alice"],
        ["x-svc-external-display-name", Buffer.from("Alïce").toString("latin1")],
      ],
    });
    expect(call.principal).toEqual({
      subjectId: "alice",
      subjectType: "user",
      username: "Alice",
      name: "Alïce",
      email: "alice@example.com",
      organizationId: "acme",
      groups: ["dev", "王"],
      roles: ["admin", "editor", "viewer"],
      scopes: ["openid", "profile"],
      source: "gateway",
    });
    expect(call.credential).toBe("gateway");
  });

  test("of claim headers: explicit ones are ignored [HDR-4]", async () => {
    const call = await stages.passed({
      headers: [
        ["x-svc-external-sub", "alice"],
        ["x-svc-external-username", "aw"],
        ["x-svc-external-name", "Alice"],
        ["x-svc-external-owner", "acme"],
        ["x-svc-org-id", "evil"],
        ["x-svc-roles", "admin"],
        ["x-svc-groups", "root"],
        ["x-svc-scopes", "all"],
      ],
    });
    expect(call.principal).toMatchObject({
      subjectId: "alice",
      username: "aw",
      name: "Alice",
      organizationId: "acme",
      groups: [],
      roles: [],
      scopes: [],
    });
  });

  test("the items of a JSON array are taken literally, and scopes are separated by spaces or commas [HDR-7]", async () => {
    const call = await stages.passed({
      headers: [
        ...VERIFIED,
        ["x-svc-user-id", "alice"],
        ["x-svc-roles", '[" admin", "\\u00a0admin", "\\ufeffadmin", "admin "]'],
        ["x-svc-groups", " admin , dev "],
        ["x-svc-external-scope", "read:a,profile  openid"],
      ],
    });
    expect(call.principal).toMatchObject({
      roles: [" admin", "\u00a0admin", "\ufeffadmin", "admin "],
      groups: ["admin", "dev"],
      scopes: ["read:a", "profile", "openid"],
    });
  });

  test("of verified headers: the explicit scopes are used, and those of the claim only without them [HDR-4]", async () => {
    const scopesOf = async (explicit: string, claim: string) => {
      const headers: SentHeaders = [
        ...VERIFIED,
        ["x-svc-user-id", "alice"],
        ["x-svc-scopes", explicit],
        ["x-svc-external-scope", claim],
      ];
      return (await stages.passed({ headers })).principal?.scopes;
    };
    expect(await scopesOf("read", "all")).toEqual(["read"]);
    expect(await scopesOf("read all, write", "")).toEqual(["read all", "write"]);
    expect(await scopesOf(' ["read", "write"]', "all")).toEqual(["read", "write"]);
    expect(await scopesOf("", '["read all", "write"]')).toEqual(["read all", "write"]);
    expect(await scopesOf("", "")).toEqual([]);
  });

  test("keeps an invisible character, since without it the name could be another user's", async () => {
    const name = Buffer.from("\ufeffalice").toString("latin1");
    const headers: SentHeaders = [
      ["x-svc-external-sub", "mallory"],
      ["x-svc-external-name", name],
    ];
    expect((await stages.passed({ headers })).principal?.username).toBe("\ufeffalice");
  });

  test("has lists that handlers cannot modify", async () => {
    for (const headers of [
      [["x-svc-external-sub", "alice"]],
      [...VERIFIED, ["x-svc-user-id", "a"]],
    ]) {
      const { principal } = await stages.passed({ headers: headers as SentHeaders });
      for (const list of [principal?.roles, principal?.groups, principal?.scopes]) {
        expect(list).toEqual([]);
        expect(Object.isFrozen(list)).toBe(true);
      }
    }
  });

  test("has the maximum number and length of list items", async () => {
    const longest = "g".repeat(256);
    const headers: SentHeaders = [
      ...VERIFIED,
      ["x-svc-user-id", "~".repeat(256)],
      ["x-svc-roles", Array(1000).fill("r").join()],
      ["x-svc-groups", longest],
    ];
    const { principal } = await stages.passed({ headers });
    expect(principal?.subjectId).toHaveLength(256);
    expect(principal?.roles).toHaveLength(1000);
    expect(principal?.groups).toEqual([longest]);
  });

  test("11 is the same over gRPC", async () => {
    const headers: SentHeaders = [["x-svc-external-sub", "alice"]];
    const call = await stages.passed({ headers, transport: "grpc", httpMethod: "POST" });
    expect(call.principal?.subjectId).toBe("alice");
    const peer = STRANGER;
    expect(await stages.outcome({ headers, peer, transport: "grpc", httpMethod: "POST" })).toBe(
      "401 UNAUTHORIZED: missing principal",
    );
  });

  test("1 is absent if the peer is not trusted, even if its headers were not dropped", () => {
    const call = callOf({ headers: [["x-svc-external-sub", "alice"]], peer: STRANGER });
    const gateway = new GatewayHeadersAuthenticator();
    expect(gateway.authenticate(call)).toBeUndefined();
    call.peerIsTrusted = true;
    expect(gateway.authenticate(call)?.principal.subjectId).toBe("alice");
  });
});
