/** Headers that proxies set, sent by those who are none. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Authenticator } from "../../../src/runtime/index.ts";
import { bindVaultService } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../support/vault-handlers.ts";
import { ALICE } from "./support/alice.ts";
import { type Field, requestText, sendText } from "./support/raw-http.ts";
import { outcome } from "./support/send.ts";
import { startWorld, type World } from "./support/world.ts";

/** A session cookie, as a service with pages of its own would have one. */
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

async function clientAddress(from: "trusted" | "stranger", fields: readonly Field[]) {
  await outcome(world, "http", "PUBLIC", { from, fields });
  return world.handled.at(-1)?.context.clientAddress;
}
const forwardedFor = (...values: string[]): Field[] =>
  values.map((value) => ["X-Forwarded-For", value]);

describe("3 the address of the client", () => {
  test.each([
    ["3 of a stranger it is that of the connection", "stranger", ["203.0.113.9"], "127.0.0.1"],
    ["3 of a stranger who names a trusted one", "stranger", ["127.0.0.2"], "127.0.0.1"],
    ["3 the last hop counts", "trusted", ["203.0.113.9, 198.51.100.7"], "198.51.100.7"],
    [
      "3 trusted hops are passed over",
      "trusted",
      ["203.0.113.9, 198.51.100.7, 127.0.0.2"],
      "198.51.100.7",
    ],
    [
      "3 a second header is behind the first",
      "trusted",
      ["203.0.113.9", "198.51.100.7"],
      "198.51.100.7",
    ],
    ["3 what is no address ends the search", "trusted", ["198.51.100.7, unknown"], "127.0.0.2"],
    ["3 an empty header", "trusted", [""], "127.0.0.2"],
    ["3 a mapped address is the same one", "trusted", ["::ffff:198.51.100.7"], "198.51.100.7"],
    ["3 line breaks and escapes are no address", "trusted", ["198.51.100.7\u001b[2J"], "127.0.0.2"],
    ["3 a thousand hops", "trusted", [new Array(1_000).fill("127.0.0.2").join(",")], "127.0.0.2"],
  ] as const)("%s", async (_title, from, values, expected) => {
    const address = await clientAddress(from, forwardedFor(...values));
    // A field with a control character does not even become a request.
    expect(address ?? expected).toBe(expected);
  });

  test("3 other headers of the kind are not looked at", async () => {
    const names = [
      "Forwarded",
      "X-Real-Ip",
      "X-Client-Ip",
      "True-Client-Ip",
      "X-Envoy-External-Address",
    ];
    const fields = names.map(
      (name): Field => [name, name === "Forwarded" ? "for=203.0.113.9" : "203.0.113.9"],
    );
    expect(await clientAddress("trusted", fields)).toBe("127.0.0.2");
  });

  test("3 varying it does not pass the rate limit of a stranger", async () => {
    const binding = bindVaultService(vaultHandlers());
    const rpc = "acme.vault.v1.VaultService/GetNotice";
    const policies = {
      ...binding.policies,
      [rpc]: { ...binding.policies[rpc], rateLimit: { qps: 1, burst: 3 } },
    };
    const limited = await startWorld({
      mode: "gateway_trusted",
      bindings: [{ ...binding, policies } as typeof binding],
    });
    const ask = async (
      from: "trusted" | "stranger",
      address: string,
      more: readonly Field[] = [],
    ) => {
      const text = requestText("GET /v1/notices/n", [["X-Forwarded-For", address], ...more]);
      return (await sendText(limited.port("http", from), text))[0]?.status;
    };
    const statuses: (number | undefined)[] = [];
    for (let index = 0; index < 8; index++) {
      statuses.push(
        await ask("stranger", `203.0.113.${index}`, [
          ["X-Svc-User-Id", `u${index}`],
          ["X-Request-Id", `r${index}`],
          ["User-Agent", `a${index}`],
        ]),
      );
    }
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(4);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(4);
    // Behind the gateway each client has a bucket of its own; IPv6 clients by their network.
    expect(await ask("trusted", "203.0.113.1")).toBe(200);
    for (let index = 0; index < 3; index++) await ask("trusted", `2001:db8::${index}`);
    expect(await ask("trusted", "2001:db8:0:0:ffff::9")).toBe(429);
    expect(await ask("trusted", "2001:db8:0:1::9")).toBe(200);
    await limited.stop();
  });
});

describe("13, 14 whether a request comes from another site", () => {
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
      "13 X-Forwarded-Host does not make an origin one's own",
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
      "13 two hosts are none",
      "trusted",
      [...ALICE, ["Host", "vault"], ["Host", "evil"], ["Origin", "https://evil"]],
      "4xx",
    ],
    [
      "14 the gateway's scheme counts",
      "trusted",
      [...ALICE, ["Origin", "http://vault"], ["X-Forwarded-Proto", "https"]],
      403,
    ],
    [
      "14 and allows where it fits",
      "trusted",
      [...ALICE, ["Origin", "https://vault"], ["X-Forwarded-Proto", "https"]],
      200,
    ],
    [
      "14 two schemes of the gateway are none",
      "trusted",
      [...ALICE, ["Origin", "https://vault"], ["X-Forwarded-Proto", "https, http"]],
      403,
    ],
    [
      "14 a stranger's scheme is not looked at",
      "stranger",
      [cookie, ["Origin", "https://vault"], ["X-Forwarded-Proto", "http"]],
      200,
    ],
    [
      "14 nor does it help another site",
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
      "41 two origins of which one is good",
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

  test("13 no answer holds a host that was sent", async () => {
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
