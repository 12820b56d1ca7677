/** SpiceDB and its PostgreSQL are killed and started again under load: no call is allowed without a decision. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SpicedbEngine } from "../../../src/authz/spicedb/index.ts";
import { datastoreIsAbsent } from "../../authz/spicedb/postgres-datastore.ts";
import { openPostgres, type TestPostgres } from "../../support/postgres.ts";
import { type SpicedbServer, startSpicedb } from "../../support/spicedb.ts";
import { FIXTURE, type RunningVault, shareDocument, startVault } from "../support/vault-server.ts";
import { eventsOfAll, expectAudited } from "./support/audited.ts";
import { grpcCaller, httpCaller, type Kind, requestOf } from "./support/calls.ts";
import { Load } from "./support/load.ts";
import { readyz, until, untilReady } from "./support/until.ts";
import { type Valve, valveTo } from "./support/valve.ts";

/** Calls that need a decision get none. */
const NO_DECISION = [503, 504];
const DOWN = {
  allowed: NO_DECISION,
  denied: NO_DECISION,
  write: NO_DECISION,
  "refused write": NO_DECISION,
};

describe.skipIf(datastoreIsAbsent())("SpiceDB on PostgreSQL", () => {
  let postgres: TestPostgres;
  let spicedb: SpicedbServer;
  let valve: Valve;
  let vault: RunningVault;

  beforeAll(async () => {
    postgres = (await openPostgres()) as TestPostgres;
    spicedb = await startSpicedb({ postgresUrl: `${postgres.url}?sslmode=disable` });
    valve = await valveTo(Number(spicedb.endpoint.split(":")[1]));
    const { token } = spicedb;
    vault = await startVault({
      security: {
        authz: {
          provider: "spicedb",
          spicedb: { endpoint: `127.0.0.1:${valve.port}`, token, insecure: true },
        },
      },
    });
    await (vault.engine as SpicedbEngine).writeSchema(
      readFileSync(join(FIXTURE, "model.zed"), "utf8"),
    );
    await untilReady(vault.http);
    await shareDocument(vault.engine);
  });
  afterAll(async () => {
    await vault?.stop();
    await valve?.close();
    await spicedb?.stop();
    postgres?.remove();
  });

  test("killed, silent, and without its database: 503, and correct decisions again without a restart [AUTHZ-3]", async () => {
    const load = new Load(vault);
    await load.phase("healthy");
    await spicedb.stop("SIGKILL");
    await load.phase("killed");
    await untilReady(vault.http, false);
    // On a busy machine the first check may time out before SpiceDB is known to be down.
    await until("SpiceDB is named", async () =>
      /^authorization engine: .*SpiceDB/.test(`${(await readyz(vault.http)).reasons}`),
    );
    const said = vault.lines.filter((line) => line.includes('"not ready"'));
    expect(said.join("\n")).toContain("SpiceDB");
    await spicedb.start();
    await untilReady(vault.http);
    await load.phase("started again");

    valve.silence();
    await load.phase("silent", 1);
    expect((await readyz(vault.http)).reasons).toMatch(/^authorization engine: /);
    valve.open();
    await untilReady(vault.http);
    await load.phase("heard again");

    if (postgres.stop !== undefined) {
      postgres.stop();
      await load.phase("without a database", 3);
      postgres.start?.();
      // Each connection of SpiceDB to its database that was cut fails one more call.
      await until("checks are answered", () => answersAgain());
      await load.phase("with a database");
    }
    await load.stop();
    for (const phase of ["healthy", "started again", "heard again"]) load.expectPhase(phase);
    for (const phase of ["killed", "silent"]) load.expectPhase(phase, DOWN);
    if (postgres.stop !== undefined) {
      // SpiceDB may have cached a decision; no write can have changed it.
      load.expectPhase("without a database", {
        allowed: [200, ...NO_DECISION],
        denied: [403, ...NO_DECISION],
        write: [200, ...NO_DECISION],
        "refused write": [403, ...NO_DECISION],
      });
      load.expectPhase("with a database");
    }
    load.expectNoWrongAnswer();
    expectAudited(load, await eventsOfAll(load, vault.server));
  });

  test("later decisions follow later writes", async () => {
    const relationship = {
      resource: { type: "document", id: "open" },
      relation: "viewer",
      subject: { type: "user", id: "alice" },
    };
    const editor = { ...relationship, relation: "editor" };
    const write = (operation: "TOUCH" | "DELETE") =>
      vault.engine.writeRelationships({
        updates: [relationship, editor].map((one) => ({ operation, relationship: one })),
      });
    await spicedb.stop("SIGKILL");
    await expect(write("DELETE")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await spicedb.start();
    await untilReady(vault.http);
    await write("DELETE");
    expect(await answers("allowed", 403)).toBe(true);
    await write("TOUCH");
    expect(await answers("allowed", 200)).toBe(true);
  });

  /** Whether checks, also of the newest state, are answered again and again: more often than SpiceDB has connections. */
  async function answersAgain(): Promise<boolean> {
    for (let round = 0; round < 20; round++) {
      if (!(await answers("allowed", 200))) return false;
      if (!(await answers("refused write", 403))) return false;
    }
    return true;
  }

  /** Whether both transports respond so. */
  async function answers(kind: Kind, wanted: number): Promise<boolean> {
    const callers = [httpCaller(vault.http), grpcCaller(vault.grpc)];
    const request = requestOf(kind, "");
    const statuses = await Promise.all(callers.map(({ call }) => call(request, "one-more")));
    for (const caller of callers) caller.close();
    return statuses.every((status) => status === wanted);
  }
});
