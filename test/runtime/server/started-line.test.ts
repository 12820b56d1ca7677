import { isAbsolute } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startVault } from "../support/vault-server.ts";

test("the first line has the version, the configuration and the addresses", async () => {
  const vault = await startVault({ version: "1.2.3" });
  onTestFinished(() => vault.stop());
  const lines = vault.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const started = lines.find(({ message }) => message === "started");
  expect(started).toMatchObject({
    version: "1.2.3",
    addresses: { http: { port: vault.http } },
  });
  expect(isAbsolute(started?.["configuration"] as string)).toBe(true);
});
