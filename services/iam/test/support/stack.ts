import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSpicedbEngine, parseModel } from "svc-access/authz";
import { query } from "../../../../test/support/postgres.ts";

/** The variable by which the setup of a run tells its workers where the servers are. */
export const SERVERS = "SVC_IAM_STACK_SERVERS";

/** Where the servers of a run are. */
export interface StackServers {
  readonly postgres: string;
  readonly spicedb: string;
  readonly etcd: string;
}

/** The sections of a service's configuration that say what it runs on. */
export interface StackSections {
  readonly database: object;
  readonly authz: object;
  readonly registry?: object;
}

/** Whether services run on PostgreSQL, SpiceDB and etcd. */
export const IS_PRODUCTION_STACK = process.env[SERVERS] !== undefined;

/** Few, since all services of a run share one server. */
const CONNECTIONS = 5;

/** A new database of the run's PostgreSQL. @returns its URL */
export async function newDatabase(): Promise<string> {
  const { postgres } = servers();
  const name = `iam_${randomBytes(12).toString("hex")}`;
  await query(postgres, `create database ${name}`);
  return Object.assign(new URL(postgres), { pathname: `/${name}` }).href;
}

/** The sections of a new service with an empty database, and a SpiceDB that has a model and no relationships. */
async function productionSections(model: string): Promise<StackSections> {
  const { spicedb: endpoint, etcd } = servers();
  const url = await newDatabase();
  // SpiceDB has separate data for each token.
  const spicedb = { endpoint, token: randomBytes(16).toString("hex"), insecure: true };
  const schema = readFileSync(model, "utf8");
  const engine = await createSpicedbEngine({ ...spicedb, model: parseModel(schema, model).model });
  await engine.writeSchema(schema);
  await engine.close();
  return {
    database: { driver: "postgres", url, max_open_conns: CONNECTIONS, max_idle_conns: CONNECTIONS },
    authz: { provider: "spicedb", spicedb },
    registry: { etcd: { endpoints: [etcd] } },
  };
}

/** The sections of a new service on the stack that the tests run on. */
export async function stackSections(model: string): Promise<StackSections> {
  return IS_PRODUCTION_STACK ? productionSections(model) : EMBEDDED_SECTIONS;
}

/** The sections of a service on files of its own. */
const EMBEDDED_SECTIONS: StackSections = {
  database: { driver: "sqlite", file: "iam.db" },
  authz: { provider: "embedded" },
};

function servers(): StackServers {
  return JSON.parse(process.env[SERVERS] ?? "");
}
