import { describe } from "vitest";
import { startSpicedb } from "../../support/spicedb.ts";
import { datastoreIsAbsent, openDatastore } from "../spicedb/postgres-datastore.ts";
import { describeContract } from "./contract.ts";
import { spicedbTarget } from "./spicedb-target.ts";

describe.skipIf(datastoreIsAbsent())("SpiceDB on PostgreSQL", () => {
  describeContract(
    spicedbTarget("SpiceDB, on PostgreSQL", true, async () => {
      const datastore = await openDatastore();
      const server = await startSpicedb({ postgresUrl: datastore.url });
      return { server, remove: () => datastore.remove() };
    }),
  );
});
