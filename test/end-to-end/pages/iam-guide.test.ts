/** The guide of docs/iam.md, from empty machines to two replicas: each command, as it is written. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Browser } from "../../../services/iam/test/support/browser.ts";
import { datastoreIsAbsent } from "../../authz/spicedb/postgres-datastore.ts";
import { IS_THOROUGH } from "../../support/effort.ts";
import { ROOT } from "../../support/workspace.ts";
import { GuideMachines } from "../support/guide-machines.ts";

const PASSWORD = "correct horse battery staple";
const text = readFileSync(join(ROOT, "docs/iam.md"), "utf8");
const guide = text.slice(text.indexOf("## From empty machines to two replicas"));
const blocks = (language: string) =>
  [...guide.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, block = ""]) =>
    name === language ? [block] : [],
  );

const [variables = "", roles = "", spicedb = "", files = "", serve = "", bootstrap = "", ...later] =
  blocks("sh");
const [check = "", schema = "", migrate = "", backup = "", restore = "", end = ""] = later;
/** What a supervisor runs. */
const SERVE_SPICEDB = /^spicedb serve.*\n/m;

describe.skipIf(!IS_THOROUGH || datastoreIsAbsent())("the guide [DEPLOY-8]", () => {
  let machines: GuideMachines;
  let person: Browser;

  beforeAll(async () => {
    const prepared = await GuideMachines.prepare();
    if (prepared !== undefined) machines = prepared;
  });
  beforeEach(({ skip }) => {
    skip(machines === undefined, "its roles are not made on the server of POSTGRES_URL");
  });
  afterAll(() => machines?.remove());

  const startSpicedb = () => machines.startSpicedb(SERVE_SPICEDB.exec(spicedb)?.[0].trim() ?? "");
  const startReplicas = () => machines.startReplicas(serve.trim());

  /** What each replica answers to the browser. */
  const statuses = () =>
    Promise.all(
      machines.replicas.map(async ({ origin }) => {
        return (await person.request(`${origin}/v1/iam/me`)).status;
      }),
    );

  const logIn = async () => {
    const { origin = "" } = machines.replicas[0] ?? {};
    person = new Browser(origin);
    const page = await person.open(`${origin}/v1/iam/ui/login?return_to=/v1/iam/me`);
    const form = { action: "login", username: "root", password: PASSWORD };
    const visit = await person.submit(page, form);
    expect(JSON.parse(visit.text)).toMatchObject({ username: "root" });
  };

  test("PostgreSQL and SpiceDB", async () => {
    machines.keepVariables(variables);
    writeFileSync(join(machines.folder, "roles.sql"), machines.here(blocks("sql")[0] ?? ""));
    machines.run(roles);
    machines.run(spicedb.replace(SERVE_SPICEDB, ""));
    await startSpicedb();
  });

  test("the files, the tables, and both replicas", async () => {
    machines.run(files);
    const configuration = machines.here(blocks("yaml")[0] ?? "");
    writeFileSync(join(machines.folder, "etc/service.yaml"), configuration);
    for (const step of blocks("console").flatMap((block) => block.split(/^\$ /m).slice(1))) {
      const [command = "", ...lines] = machines.here(step).trimEnd().split("\n");
      expect(machines.run(command).trimEnd().split("\n"), command).toEqual(lines);
    }
    await startReplicas();
  });

  test("the first owner logs in, at both replicas", async () => {
    const link = machines.run(bootstrap).trim();
    person = new Browser(new URL(link).origin);
    const page = await person.open(link);
    const name = { username: "root", display_name: "Root", email: "root@example.com" };
    const made = await person.submit(page, { ...name, password: PASSWORD, repeated: PASSWORD });
    expect(made.status).toBe(200);
    await logIn();
    expect(await statuses()).toEqual([200, 200]);
  });

  test("an upgrade, a backup, and its restoration", async () => {
    expect(machines.run(check)).toContain("the tables already have this version");
    expect(machines.run(schema)).toContain("writtenAt");
    expect(machines.run(migrate)).toContain("the tables already have this version");
    machines.run(backup);
    await machines.stopAll();
    machines.run(restore);
    await startSpicedb();
    machines.run(end);
    await startReplicas();
    // The login of before the backup has ended.
    expect(await statuses()).toEqual([401, 401]);
    await logIn();
    expect(await statuses()).toEqual([200, 200]);
  });
});
