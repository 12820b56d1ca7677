/** `svc-access database migrate`, as another role than that of the service. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { onPostgres } from "../authz/on-postgres.ts";
import { runSvcAccess } from "../support/svc-access.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-migrate-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function configured(
  name: string,
  database: string,
  server = 'server: {http: {address: "127.0.0.1:0"}}',
): string {
  const file = join(folder, name);
  writeFileSync(
    file,
    `service: notes
environment: development
${server}
security: {authn: {mode: gateway_trusted, gateway: {trusted_peers: [192.0.2.1]}}}
database: ${database}
`,
  );
  return file;
}

const migrate = (config: string, env: NodeJS.ProcessEnv = {}, ...flags: string[]) =>
  runSvcAccess(["database", "migrate", "--config", config, ...flags], { env });

const sqlite = configured("sqlite.yaml", `{driver: sqlite, file: ${join(folder, "notes.db")}}`);
writeFileSync(join(folder, "password"), "not-the-one-of-the-owner");
const postgres = configured(
  "postgres.yaml",
  '{driver: postgres, url: "postgres://nobody@127.0.0.1:1/none", password_file: password}',
);

test.each<[what: string, config: string, url: string, message: RegExp]>([
  ["for SQLite", sqlite, "postgres://o:s3cret@db/n", /is for PostgreSQL.*driver.*is sqlite/],
  ["that is empty", postgres, "", /--url \(SVC_ACCESS_OWNER_URL\) is empty: write postgres:/],
  ["of another kind", postgres, "mysql://o:s3cret@db/n", /is not valid: write postgres:/],
])("a URL of the owner %s is refused without printing it", (_what, config, url, message) => {
  const { status, stderr } = migrate(config, {}, "--url", url);
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(message) });
  expect(stderr).not.toContain("s3cret");
});

test.each([
  ["no servers", ""],
  ["an empty section of servers", "server: {}"],
  ["servers without addresses", "server: {http: {timeout_ns: 1000000000}, metrics: {path: /m}}"],
  ["one server only", "server: {grpc: null}"],
])("a configuration with %s is one of a service with default addresses", (what, server) => {
  const name = what.replaceAll(" ", "-");
  const config = configured(
    `${name}.yaml`,
    `{driver: sqlite, file: ${join(folder, `${name}.db`)}}`,
    server,
  );
  expect(migrate(config)).toMatchObject({ status: 0, stderr: "svc-access: created the tables\n" });
});

await onPostgres("migrating with the URL of the owner", ({ url, query }) => {
  test("replaces the URL and the password file of the service", async () => {
    const { status, stderr } = migrate(postgres, { SVC_ACCESS_OWNER_URL: url });
    expect({ status, stderr }).toMatchObject({ status: 0 });
    const [found] = await query("select to_regclass('svc_access.audit_events') as name");
    expect(found).toEqual({ name: "svc_access.audit_events" });
  });
});
