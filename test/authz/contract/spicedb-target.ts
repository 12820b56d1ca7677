import type { SpicedbServer } from "../../support/spicedb.ts";
import { engineOf } from "../spicedb/fixture.ts";
import { SCHEMA } from "./schema.ts";
import type { ContractTarget } from "./target.ts";

/**
 * SpiceDB as a target of the contract.
 *
 * @param start returns an empty SpiceDB, and what removes it afterwards
 */
export function spicedbTarget(
  name: string,
  ordersConcurrentWrites: boolean,
  start: () => Promise<{ server: SpicedbServer; remove?: () => Promise<void> }>,
): ContractTarget {
  return {
    name,
    differences: {
      cursorAfterWrite: "continues",
      sortedRelationships: false,
      createIsWatchedAs: "TOUCH",
      depth: 50,
      ordersConcurrentWrites,
    },
    open: async () => {
      const { server, remove } = await start();
      const engine = await engineOf(server, SCHEMA);
      await engine.writeSchema(SCHEMA);
      return {
        engine,
        openOther: () => engineOf(server, SCHEMA),
        close: async () => {
          await engine.close();
          await server.stop();
          await remove?.();
        },
      };
    },
  };
}
