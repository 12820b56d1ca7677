/** Writes that another site makes a browser send, and hosts that a caller claims. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Authenticator } from "../../../../src/runtime/index.ts";
import { vaultCall } from "../../access-table/call.ts";
import { UpdateDocumentRequestSchema } from "../../fixture/gen/acme/vault/v1/vault_pb.ts";
import { WIRE_NAMES, WIRES } from "../../support/wire/protocols.ts";
import { ALICE } from "../support/alice.ts";
import { type Field, requestText, sendText } from "../support/raw-http.ts";
import { callWith } from "../support/rpc-call.ts";
import { startWorld, type World } from "../support/world.ts";

/** A session cookie, as of a service with its own pages. */
const SESSION: Authenticator = {
  name: "session",
  authenticate: ({ headers }) =>
    headers.all("cookie").includes("session=alice")
      ? {
          credential: "cookie",
          principal: {
            subjectId: "alice",
            subjectType: "user",
            username: "alice",
            name: "",
            email: "",
            organizationId: "",
            groups: [],
            roles: [],
            scopes: [],
            source: "jwt",
          },
        }
      : undefined,
};

let world: World;
beforeAll(async () => {
  world = await startWorld({ mode: "gateway_trusted", authenticators: [SESSION] });
});
afterAll(() => world.stop());
beforeEach(() => void (world.handled.length = 0));

describe("13, 14 whether a request comes from another site [HDR-9]", () => {
  const put = async (from: "trusted" | "stranger", fields: readonly Field[]) => {
    const all: Field[] = [["Content-Type", "application/json"], ...fields];
    const text = requestText("PUT /v1/documents/open", all, '{"text":"x"}');
    const [response] = await sendText(world.port("http", from), text);
    expect(response?.status === 200).toBe(world.handled.length === 1);
    return response?.status;
  };
  const cookie: Field = ["Cookie", "session=alice"];

  test.each([
    ["13 its own origin, by the gateway", "trusted", [...ALICE, ["Origin", "https://vault"]], 200],
    [
      "13 X-Forwarded-Host does not make an origin the service's own",
      "trusted",
      [...ALICE, ["Origin", "https://evil"], ["X-Forwarded-Host", "evil"]],
      403,
    ],
    [
      "13 nor does Forwarded",
      "trusted",
      [...ALICE, ["Origin", "https://evil"], ["Forwarded", "host=evil"]],
      403,
    ],
    [
      "13 two hosts are not valid",
      "trusted",
      [...ALICE, ["Host", "vault"], ["Host", "evil"], ["Origin", "https://evil"]],
      "4xx",
    ],
    [
      "14 the gateway's scheme is used",
      "trusted",
      [...ALICE, ["Origin", "http://vault"], ["X-Forwarded-Proto", "https"]],
      403,
    ],
    [
      "14 and allows a matching origin",
      "trusted",
      [...ALICE, ["Origin", "https://vault"], ["X-Forwarded-Proto", "https"]],
      200,
    ],
    [
      "14 two schemes of the gateway are not valid",
      "trusted",
      [...ALICE, ["Origin", "https://vault"], ["X-Forwarded-Proto", "https, http"]],
      403,
    ],
    [
      "14 the scheme of an untrusted peer is ignored",
      "stranger",
      [cookie, ["Origin", "https://vault"], ["X-Forwarded-Proto", "http"]],
      200,
    ],
    [
      "14 and does not help another site",
      "stranger",
      [cookie, ["Origin", "https://evil"], ["X-Forwarded-Proto", "https"]],
      403,
    ],
    ["41 the origin null with a cookie", "stranger", [cookie, ["Origin", "null"]], 403],
    ["41 a suffix of the host", "stranger", [cookie, ["Origin", "https://vault.evil.com"]], 403],
    [
      "41 userinfo before the host",
      "stranger",
      [cookie, ["Origin", "https://vault@evil.com"]],
      403,
    ],
    [
      "41 two origins, of which one is allowed",
      "stranger",
      [cookie, ["Origin", "https://vault"], ["Origin", "https://evil"]],
      403,
    ],
    [
      "41 a browser that says cross-site",
      "stranger",
      [cookie, ["Sec-Fetch-Site", "cross-site"]],
      403,
    ],
    [
      "41 a browser that says it twice",
      "stranger",
      [cookie, ["Sec-Fetch-Site", "same-origin"], ["Sec-Fetch-Site", "cross-site"]],
      403,
    ],
  ] as [string, "trusted" | "stranger", Field[], number | "4xx"][])(
    "%s",
    async (_title, from, fields, expected) => {
      const status = await put(from, fields);
      if (expected === "4xx") expect([400, 403]).toContain(status);
      else expect(status).toBe(expected);
    },
  );

  test.each(WIRE_NAMES)("41 of a write by %s", async (name) => {
    const route = { method: "PUT", path: "/v1/documents/open", body: '{"text":"x"}' };
    const request = { documentId: "open", text: "x" };
    const write = vaultCall("UpdateDocument", route, UpdateDocumentRequestSchema, request);
    const { form } = WIRES[name];
    // Connect GET has no writes.
    const refused = form === "connect_get" ? "405" : "FORBIDDEN";
    const reported = (from: "trusted" | "stranger", ...fields: Field[]) =>
      callWith(world, name, write, { from, fields });
    const evil: Field = ["Origin", "https://evil.example"];
    expect(await reported("trusted", ...ALICE, evil)).toBe(refused);
    expect(await reported("trusted", ...ALICE, ["Sec-Fetch-Site", "cross-site"])).toBe(refused);
    expect(await reported("stranger", cookie, evil)).toBe(refused);
    const own = form === "connect_get" ? "405" : "served";
    expect(await reported("stranger", cookie)).toBe(own);
  });

  test("13 no response contains a sent host", async () => {
    const fields: Field[] = [
      ["X-Forwarded-Host", "evil.example"],
      ["Host", "evil.example"],
      ["Forwarded", "host=evil.example"],
      ["Origin", "https://evil.example"],
      ["Referer", "https://evil.example/"],
    ];
    for (const path of [
      "/v1/notices/n",
      "/v1/profile",
      "/v1/nothing",
      "/healthz",
      "/v1/notices/",
    ]) {
      const [response] = await sendText(
        world.port("http", "trusted"),
        requestText(`GET ${path}`, fields),
      );
      expect(JSON.stringify(response)).not.toContain("evil");
    }
  });
});
