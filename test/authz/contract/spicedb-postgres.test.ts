import { describe } from "vitest";
import { IS_THOROUGH } from "../../support/effort.ts";
import { startSpicedb } from "../../support/spicedb.ts";
import { datastoreIsAbsent, openDatastore } from "../spicedb/postgres-datastore.ts";
import { describeContract } from "./contract.ts";
import { spicedbTarget } from "./spicedb-target.ts";

/** Only in CI; the contract always runs on a SpiceDB in memory, and on our store in PostgreSQL. */
const isLeftOut = !IS_THOROUGH || datastoreIsAbsent();

describe.skipIf(isLeftOut)("SpiceDB on PostgreSQL", () => {
  describeContract(
    spicedbTarget("SpiceDB, on PostgreSQL", true, async () => {
      const datastore = await openDatastore();
      const server = await startSpicedb({ postgresUrl: datastore.url });
      return { server, remove: () => datastore.remove() };
    }),
  );
});
