/** The servers of the production stack, which all files of a run share: a setup of vitest. */
import { startEtcd } from "../../../../test/support/etcd.ts";
import { openPostgres } from "../../../../test/support/postgres.ts";
import { startSpicedb } from "../../../../test/support/spicedb.ts";
import { SERVERS, type StackServers } from "./stack.ts";
import { STACK } from "./stack-variable.ts";

export default async function startStack(): Promise<(() => Promise<void>) | undefined> {
  const stack = process.env[STACK] ?? "";
  if (stack === "" || stack === "embedded") return undefined;
  if (stack !== "production") {
    throw new Error(`${STACK}=${stack} is not a stack: write production, or leave it out`);
  }
  const postgres = await openPostgres({ maxConnections: 500 });
  if (postgres === undefined) throw new Error(`${STACK}=production needs PostgreSQL`);
  const spicedb = await startSpicedb({ dataByToken: true });
  const etcd = await startEtcd();
  const servers: StackServers = {
    postgres: postgres.url,
    spicedb: spicedb.endpoint,
    etcd: etcd.endpoint,
  };
  process.env[SERVERS] = JSON.stringify(servers);
  return async () => {
    delete process.env[SERVERS];
    await Promise.all([spicedb.stop(), etcd.remove()]);
    postgres.remove();
  };
}
