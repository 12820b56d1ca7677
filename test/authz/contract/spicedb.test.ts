import { describe } from "vitest";
import { spicedbIsAbsent, startSpicedb } from "../../support/spicedb.ts";
import { describeContract } from "./contract.ts";
import { spicedbTarget } from "./spicedb-target.ts";

describe.skipIf(spicedbIsAbsent())("SpiceDB", () => {
  describeContract(
    spicedbTarget("SpiceDB, on its memory store", false, async () => ({
      server: await startSpicedb(),
    })),
  );
});
