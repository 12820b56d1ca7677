/** docs/upgrade.md quotes the errors that prevent a start after an upgrade. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { ServerOptions } from "../../../src/runtime/index.ts";
import { createServer, readRouteDocument } from "../../../src/runtime/index.ts";
import { bindVaultService } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../support/vault-handlers.ts";
import { FIXTURE, vaultConfiguration } from "../support/vault-server.ts";

const PAGE = readFileSync(new URL("../../../docs/upgrade.md", import.meta.url), "utf8");
const QUOTED = [...PAGE.matchAll(/does not start: `([^`]+)`/g)].map(([, text = ""]) =>
  general(text),
);

const folder = mkdtempSync(join(tmpdir(), "svc-access-upgrade-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const model = join(folder, "small.zed");
writeFileSync(
  model,
  "definition user {}\ndefinition document {\n  relation viewer: user\n  permission view = viewer\n}\n",
);
const routes = readRouteDocument(join(FIXTURE, "gen/routes/vault.json"));
const binding = bindVaultService(vaultHandlers());

/** Replaces the names, since the page uses another service. */
function general(text: string): string {
  return text
    .replace(/the routes \S+\.json/, "the routes ….json")
    .replace(/\w+(\.\w+)*\.v1\.\w+(\/\w+)?/g, "…")
    .replace(/PUBLIC|AUTHENTICATED|AUTHORIZED|INTERNAL|SYSTEM/g, "EXPOSURE")
    .replace(/"[^"]*"/g, '"…"');
}

/** The problems of a start with these options. */
async function problemsOf(options: () => Partial<ServerOptions>, security = {}): Promise<string[]> {
  const start = async () => {
    const configuration = vaultConfiguration(folder, security, {});
    await createServer({ configuration, bindings: [binding], ...options() });
  };
  return start().then(
    () => expect.unreachable("it has started"),
    ({ problems }: { problems: string[] }) => problems.map(general),
  );
}

const ofAnotherVersion = () => {
  const file = join(folder, "vault.json");
  writeFileSync(file, JSON.stringify({ ...routes, schemaVersion: 9 }));
  return { routes: readRouteDocument(file) };
};
const ofAnotherExposure = () => {
  const changed = routes.routes.map(({ key, entry }) => {
    return { key, entry: { ...entry, exposure: "PUBLIC" as const } };
  });
  return { routes: { ...routes, routes: changed } };
};

test.each<[string, () => Partial<ServerOptions>, object]>([
  [
    "the format of the binding",
    () => ({ bindings: [{ ...binding, formatVersion: 2 } as never] }),
    {},
  ],
  ["the schema version of the routes", ofAnotherVersion, {}],
  ["the exposure of an RPC", ofAnotherExposure, {}],
  ["the permissions of the model", () => ({}), { authz: { model } }],
])("what the page quotes of %s is what is said", async (_, options, security) => {
  expect(QUOTED).toHaveLength(4);
  const problems = [...new Set(await problemsOf(options, security))];
  expect(problems).toEqual([expect.toBeOneOf(QUOTED)]);
});
