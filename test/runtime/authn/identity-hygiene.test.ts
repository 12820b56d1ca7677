import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IDENTITY_HEADERS } from "../../../src/api/identity-headers.ts";
import { GATEWAY, type SentHeaders, STRANGER } from "./calls.ts";
import { stagesOf } from "./stages.ts";

const stages = stagesOf({ mode: "gateway_trusted" });
const PEERS = { gateway: GATEWAY, stranger: STRANGER };

/** Headers that are refused whoever sends them, and why. */
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
  "a name that is no UTF-8": [
    [["x-svc-external-name", "\u00e9"]],
    "the header x-svc-external-name must be printable UTF-8",
  ],
  "a name with an overlong slash": [
    [["x-svc-external-name", "\u00c0\u00af"]],
    "the header x-svc-external-name must be printable UTF-8",
  ],
  "a name that turns the writing": [
    [["x-svc-external-name", Buffer.from("a\u202eb").toString("latin1")]],
    "the header x-svc-external-name must be printable UTF-8",
  ],
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

describe("identity headers that are refused, whoever sends them", () => {
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

  test("5, 6, 11 every spelling of every name", async () => {
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

describe("headers that are let through", () => {
  test.each<[string, SentHeaders]>([
    [
      "names alike",
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
    ["Connection with its usual options", [["connection", "keep-alive, Upgrade"]]],
    [
      "a name in UTF-8",
      [["x-svc-external-name", Buffer.from("\u738b\u5c0f\u660e").toString("latin1")]],
    ],
  ])("%s", async (_name, headers) => {
    expect(await stages.outcome({ headers, exposure: "PUBLIC" })).toBe("passed");
  });
});

describe("1, 8 identity headers of a peer that is not trusted", () => {
  test.each(["PUBLIC", "AUTHENTICATED", "AUTHORIZED", "INTERNAL", "SYSTEM"] as const)(
    "are seen by nobody: %s",
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
      expect(own.told).toEqual(["identityHeadersDropped"]);
    },
  );

  test("are not counted where there are none, nor from a trusted peer", async () => {
    const own = stagesOf({ mode: "gateway_trusted" });
    await own.outcome({ headers: [["accept", "a"]], peer: STRANGER });
    await own.outcome({ headers: [["x-svc-user-id", "a"]], peer: GATEWAY });
    expect(own.told).not.toContain("identityHeadersDropped");
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

  test("are no identity unless they are one to the letter", async () => {
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
