/** Headers of proxies, sent by other peers. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { bindVaultService } from "../../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../../support/vault-handlers.ts";
import { type Field, requestText, sendText } from "../support/raw-http.ts";
import { outcome } from "../support/send.ts";
import { startWorld, type World } from "../support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ mode: "gateway_trusted" });
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
    [
      "3 of an untrusted peer it is that of the connection",
      "stranger",
      ["203.0.113.9"],
      "127.0.0.1",
    ],
    ["3 of an untrusted peer that names a trusted one", "stranger", ["127.0.0.2"], "127.0.0.1"],
    ["3 the last hop is used", "trusted", ["203.0.113.9, 198.51.100.7"], "198.51.100.7"],
    [
      "3 trusted hops are skipped",
      "trusted",
      ["203.0.113.9, 198.51.100.7, 127.0.0.2"],
      "198.51.100.7",
    ],
    [
      "3 a second header continues the first",
      "trusted",
      ["203.0.113.9", "198.51.100.7"],
      "198.51.100.7",
    ],
    ["3 an invalid address ends the search", "trusted", ["198.51.100.7, unknown"], "127.0.0.2"],
    ["3 an empty header", "trusted", [""], "127.0.0.2"],
    ["3 a mapped address is the same one", "trusted", ["::ffff:198.51.100.7"], "198.51.100.7"],
    [
      "3 line breaks and escapes are not an address",
      "trusted",
      ["198.51.100.7\u001b[2J"],
      "127.0.0.2",
    ],
    ["3 a thousand hops", "trusted", [new Array(1_000).fill("127.0.0.2").join(",")], "127.0.0.2"],
  ] as const)("%s", async (_title, from, values, expected) => {
    const address = await clientAddress(from, forwardedFor(...values));
    // A field with a control character is not even a request.
    expect(address ?? expected).toBe(expected);
  });

  test("3 other forwarding headers are ignored", async () => {
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

  test("3 varying it does not evade the rate limit of an untrusted peer", async () => {
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
    // Behind the gateway each client has its own bucket; IPv6 clients by their network.
    expect(await ask("trusted", "203.0.113.1")).toBe(200);
    for (let index = 0; index < 3; index++) await ask("trusted", `2001:db8::${index}`);
    expect(await ask("trusted", "2001:db8:0:0:ffff::9")).toBe(429);
    expect(await ask("trusted", "2001:db8:0:1::9")).toBe(200);
    await limited.stop();
  });
});
