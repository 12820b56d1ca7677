import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IDENTITY_HEADERS } from "../../../../src/api/identity-headers.ts";
import { GATEWAY, type SentHeaders, STRANGER } from "../calls.ts";
import { stagesOf } from "../stages.ts";

const stages = stagesOf({ mode: "gateway_trusted" });
const PEERS = { gateway: GATEWAY, stranger: STRANGER };

/** Headers that are refused from any peer, and the reasons. */
const REFUSED: Record<string, [SentHeaders, string]> = {
  "4 an identity header twice": [
    [
      ["x-svc-user-id", "alice"],
      ["X-Svc-User-Id", "admin"],
    ],
    "the header x-svc-user-id must occur once",
  ],
  "4 twice the same": [
    [
      ["x-svc-roles", "a"],
      ["x-svc-roles", "a"],
    ],
    "the header x-svc-roles must occur once",
  ],
  "4 the internal token twice": [
    [
      ["x-svc-internal-token", "a"],
      ["x-svc-internal-token", "b"],
    ],
    "the header x-svc-internal-token must occur once",
  ],
  "5 underscores": [
    [["x_svc_user_id", "admin"]],
    "the header x_svc_user_id is another spelling of an identity header",
  ],
  "5 an underscore among hyphens": [
    [["x-svc-user_id", "admin"]],
    "the header x-svc-user_id is another spelling of an identity header",
  ],
  "5 in upper case": [
    [["X_SVC_PRINCIPAL", "admin"]],
    "the header x_svc_principal is another spelling of an identity header",
  ],
  "5 of the internal token": [
    [["x_svc-internal-token", "admin"]],
    "the header x_svc-internal-token is another spelling of an identity header",
  ],
  "6 dots": [
    [["x.svc.user.id", "admin"]],
    "the header x.svc.user.id is another spelling of an identity header",
  ],
  "6 dots and underscores": [
    [["x_internal.jwt", "admin"]],
    "the header x_internal.jwt is another spelling of an identity header",
  ],
  "11 binary metadata": [
    [["x-svc-user-id-bin", "YWRtaW4="]],
    "the header x-svc-user-id-bin is another spelling of an identity header",
  ],
  "11 binary metadata with underscores": [
    [["x_svc_user_id_bin", "YWRtaW4="]],
    "the header x_svc_user_id_bin is another spelling of an identity header",
  ],
  "7 Connection names an identity header": [
    [
      ["connection", "close, X-Svc-User-Id"],
      ["x-svc-user-id", "alice"],
    ],
    "the Connection header names an identity header",
  ],
  "7 Connection names another spelling": [
    [["connection", "x_svc_user_id"]],
    "the Connection header names an identity header",
  ],
  "7 a second Connection header": [
    [
      ["connection", "keep-alive"],
      ["connection", "X-Svc-Auth-Verified"],
    ],
    "the Connection header names an identity header",
  ],
  "9 not ASCII": [
    [["x-svc-user-id", "\u00c3\u00a9"]],
    "the header x-svc-user-id must be printable ASCII",
  ],
  "9 a control character": [
    [["x-svc-user-id", "ali\u0001ce"]],
    "the header x-svc-user-id must be printable ASCII",
  ],
  "9 a line break": [
    [["x-svc-external-sub", "alice\r\nx-svc-user-id: admin"]],
    "the header x-svc-external-sub must be printable ASCII",
  ],
  "9 a NUL": [
    [["x-svc-principal", "alice\0"]],
    "the header x-svc-principal must be printable ASCII",
  ],
  "9 a tab": [[["x-svc-org-id", "a\tb"]], "the header x-svc-org-id must be printable ASCII"],
  "9 a DEL": [[["x-svc-org-id", "a\x7f"]], "the header x-svc-org-id must be printable ASCII"],
  "a name that is not UTF-8": [
    [["x-svc-external-name", "\u00e9"]],
    "the header x-svc-external-name must be printable UTF-8",
  ],
  "a name with an overlong slash": [
    [["x-svc-external-name", "\u00c0\u00af"]],
    "the header x-svc-external-name must be printable UTF-8",
  ],
  "a name that changes the direction of the text": [
    [["x-svc-external-name", Buffer.from("a\u202eb").toString("latin1")]],
    "the header x-svc-external-name must be printable UTF-8",
  ],
  ...Object.fromEntries(
    ["\u0085", "\u2028", "\u2029", "\u202a", "\u2066", "\u2069", "\u007f", "\u001f"].map(
      (character): [string, [SentHeaders, string]] => [
        `a name with U+${character.charCodeAt(0).toString(16)}`,
        [
          [["x-svc-external-username", Buffer.from(`a${character}b`).toString("latin1")]],
          "the header x-svc-external-username must be printable UTF-8",
        ],
      ],
    ),
  ),
  "a name that was decoded already": [
    [["x-svc-external-name", "\u4e2d"]],
    "the header x-svc-external-name must be printable UTF-8",
  ],
  "a name with a line break": [
    [["x-svc-external-display-name", "a\nb"]],
    "the header x-svc-external-display-name must be printable UTF-8",
  ],
  "more than 8 KiB": [[["x-svc-groups", "g".repeat(8193)]], "the header x-svc-groups is too long"],
};

/** The exact list of the platform, with the subject type after the subject. */
const SPEC_5_5 =
  "x-svc-auth-verified, x-svc-subject, x-svc-subject-type, x-svc-external-sub, x-svc-external-id, x-svc-external-issuer, x-svc-external-email, x-svc-external-name, x-svc-external-display-name, x-svc-external-username, x-svc-external-phone, x-svc-external-owner, x-svc-external-scope, x-svc-principal, x-svc-user-id, x-svc-org-id, x-svc-project-id, x-svc-roles, x-svc-groups, x-svc-scopes, x-svc-authz-decision-id, x-svc-internal-token, x-svc-internal-jwt, x-internal-jwt";

test("the identity headers are those of the platform [HDR-1]", () => {
  expect([...IDENTITY_HEADERS]).toEqual(SPEC_5_5.split(", "));
});

describe("identity headers that are refused from any peer [HDR-6]", () => {
  for (const [who, peer] of Object.entries(PEERS)) {
    for (const exposure of ["PUBLIC", "AUTHENTICATED"] as const) {
      test.each(Object.entries(REFUSED))(
        `%s, from a ${who}, ${exposure}`,
        async (_, [headers, why]) => {
          expect(await stages.outcome({ headers, peer, exposure })).toBe(
            `400 INVALID_ARGUMENT: ${why}`,
          );
        },
      );
    }
  }

  test("5, 6, 11 every spelling of every name [HDR-6]", async () => {
    for (const name of IDENTITY_HEADERS) {
      for (const spelling of [
        name.replaceAll("-", "_"),
        name.replaceAll("-", "."),
        name.replace("-", "_"),
        name.replace(/-(?=[^-]*$)/, "."),
        `${name}-bin`,
        `${name}_bin`,
      ]) {
        const outcome = await stages.outcome({ headers: [[spelling, "x"]], exposure: "PUBLIC" });
        expect(outcome, spelling).toContain("400 INVALID_ARGUMENT");
      }
    }
  });
});

describe("the header that is configured for internal tokens", () => {
  const own = stagesOf({
    internal_call: { enabled: true, token: "0123456789abcdef", header: "Ab-Secret" },
  });

  test.each(["ab_secret", "ab.secret", "AB_SECRET", "ab-secret-bin", "ab_secret_bin"])(
    "5, 6, 11 is refused in another spelling: %s",
    async (name) => {
      expect(await own.outcome({ headers: [[name, "x"]], exposure: "PUBLIC" })).toBe(
        `400 INVALID_ARGUMENT: the header ${name.toLowerCase()} is another spelling of an identity header`,
      );
    },
  );

  test("7 must not be named by a Connection header", async () => {
    for (const connection of ["Ab-Secret", "ab_secret"]) {
      const headers: SentHeaders = [["connection", connection]];
      expect(await own.outcome({ headers, exposure: "PUBLIC" })).toContain("400");
    }
  });
});

describe("headers that are allowed", () => {
  test.each<[string, SentHeaders]>([
    [
      "similar names",
      [
        ["x-svc-user", "a"],
        ["x-svc-user-ids", "b"],
        ["x-svc", "c"],
        ["x", "d"],
      ],
    ],
    [
      "other headers twice",
      [
        ["accept", "a"],
        ["accept", "b"],
        ["x_request_id", "c"],
      ],
    ],
    [
      "similar names, twice",
      [
        ["x-svc", "a"],
        ["x-svc", "b"],
        ["x-svc-user-ids", "c"],
        ["x-svc-user-ids", "d"],
        ["x-svc-external-display-name-binary", "e"],
        ["x-svc-external-display-name-binary", "f"],
      ],
    ],
    ["Connection with its usual options", [["connection", "keep-alive, Upgrade"]]],
    [
      "Connection with similar names",
      [["connection", "x-svc, x-svc-user-ids, x-svc-external-display-name-binary"]],
    ],
    ["8 KiB", [["x-svc-groups", "g".repeat(8192)]]],
    ["the last character of ASCII", [["x-svc-org-id", "~"]]],
    ...["email", "name", "display-name", "username"].map((name): [string, SentHeaders] => [
      `a ${name} in UTF-8`,
      [[`x-svc-external-${name}`, Buffer.from("\u738b\u5c0f\u660e").toString("latin1")]],
    ]),
  ])("%s", async (_name, headers) => {
    expect(await stages.outcome({ headers, exposure: "PUBLIC" })).toBe("passed");
  });
});

describe("1, 8 identity headers of a peer that is not trusted [HDR-2]", () => {
  test.each(["PUBLIC", "AUTHENTICATED", "AUTHORIZED", "INTERNAL", "SYSTEM"] as const)(
    "are dropped: %s",
    async (exposure) => {
      const own = stagesOf({ mode: "gateway_trusted" });
      const headers: SentHeaders = [
        ["x-svc-auth-verified", "true"],
        ["x-svc-user-id", "admin"],
        ["accept", "*/*"],
      ];
      const test = { headers, peer: STRANGER, exposure };
      if (exposure === "PUBLIC") {
        const call = await own.passed(test);
        expect(call.principal).toBeUndefined();
        expect([...call.headers.names()]).toEqual(["accept"]);
        expect(call.headers.all("x-svc-user-id")).toEqual([]);
        expect(call.headers.all("accept")).toEqual(["*/*"]);
      } else {
        expect(await own.outcome(test)).toBe("401 UNAUTHORIZED: missing principal");
      }
      expect(own.reported).toEqual(["identityHeadersDropped"]);
    },
  );

  test.each(IDENTITY_HEADERS)("each of them: %s", async (name) => {
    const own = stagesOf({ mode: "gateway_trusted" });
    const headers: SentHeaders = [[name, "true"]];
    const call = await own.passed({ headers, peer: STRANGER, exposure: "PUBLIC" });
    expect(call.headers.all(name)).toEqual([]);
    expect([...call.headers.names()]).toEqual([]);
    expect(own.reported).toEqual(["identityHeadersDropped"]);
    const twice: SentHeaders = [...headers, [name, "true"]];
    expect(await own.outcome({ headers: twice, exposure: "PUBLIC" })).toBe(
      `400 INVALID_ARGUMENT: the header ${name} must occur once`,
    );
  });

  test("beside a token, which is accepted from any peer, in any order", async () => {
    const token = "0123456789abcdef";
    const own = stagesOf({ internal_call: { enabled: true, token } });
    const pair: SentHeaders = [
      ["x-svc-user-id", "admin"],
      ["x-svc-internal-token", token],
    ];
    for (const headers of [pair, pair.toReversed()]) {
      const call = await own.passed({ headers, peer: STRANGER, exposure: "INTERNAL" });
      expect(call.credential).toBe("internal");
      expect([...call.headers.names()]).toEqual(["x-svc-internal-token"]);
    }
  });

  test("are not counted if there are none, nor from a trusted peer", async () => {
    const own = stagesOf({ mode: "gateway_trusted" });
    await own.outcome({ headers: [["accept", "a"]], peer: STRANGER });
    await own.outcome({ headers: [["x-svc-user-id", "a"]], peer: GATEWAY });
    expect(own.reported).not.toContain("identityHeadersDropped");
  });
});

describe("random header names", () => {
  const near = fc
    .tuple(
      fc.constantFrom(...IDENTITY_HEADERS),
      fc.array(
        fc.tuple(fc.nat(40), fc.constantFrom("_", ".", "-", "x", "", "S", "~", "--", "-bin")),
        { maxLength: 4 },
      ),
      fc.boolean(),
    )
    .map(([name, edits, upper]) => {
      let text = name;
      for (const [place, edit] of edits) {
        const at = place % (text.length + 1);
        text = text.slice(0, at) + edit + text.slice(at + 1);
      }
      return upper ? text.toUpperCase() : text;
    })
    .filter((name) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name));

  test("are identity headers only if they match exactly", async () => {
    await fc.assert(
      fc.asyncProperty(near, fc.constantFrom(GATEWAY, STRANGER), async (name, peer) => {
        const outcome = await stages.outcome({
          peer,
          headers: [
            ["x-svc-auth-verified", "true"],
            [name, "mallory"],
          ],
        });
        const lower = name.toLowerCase();
        const carries = [
          "x-svc-principal",
          "x-svc-user-id",
          "x-svc-external-id",
          "x-svc-external-sub",
        ].includes(lower);
        const plain = lower.replace(/[_.]/g, "-").replace(/-bin$/, "");
        if (lower === "x-svc-auth-verified") expect(outcome).toContain("400");
        else if (IDENTITY_HEADERS.includes(lower)) {
          expect(outcome === "passed").toBe(carries && peer === GATEWAY);
        } else if (IDENTITY_HEADERS.includes(plain)) expect(outcome).toContain("400");
        else expect(outcome).toBe("401 UNAUTHORIZED: missing principal");
      }),
      { numRuns: 3000 },
    );
  });
});
