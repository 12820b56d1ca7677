/** The engine `iam` passes the tests of all engines, over a whole svc-iam with SpiceDB. */
import { describe } from "vitest";
import { IS_THOROUGH } from "../../support/effort.ts";
import { spicedbIsAbsent, startSpicedb } from "../../support/spicedb.ts";
import { describeContract } from "./contract.ts";
import { iamTarget } from "./iam-target.ts";

/** In part, except in CI: the whole contract always runs over the embedded engine, and on SpiceDB itself. */
describe.skipIf(spicedbIsAbsent())("IAM over SpiceDB", () => {
  describeContract(
    iamTarget(
      "IAM, with SpiceDB on its memory store",
      {
        cursorAfterWrite: "continues",
        sortedRelationships: false,
        createIsWatchedAs: "TOUCH",
        depth: 50,
        ordersConcurrentWrites: false,
      },
      async () => {
        const spicedb = await startSpicedb();
        const { endpoint, token } = spicedb;
        const authz = { provider: "spicedb", spicedb: { endpoint, token, insecure: true } };
        return { authz, stop: () => spicedb.stop() };
      },
    ),
    IS_THOROUGH,
  );
});
