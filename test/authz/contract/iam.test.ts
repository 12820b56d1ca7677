/** The engine `iam` passes the tests of all engines, over a whole svc-iam with its embedded engine. */
import { describeContract } from "./contract.ts";
import { iamTarget } from "./iam-target.ts";

describeContract(
  iamTarget(
    "IAM, with its embedded engine",
    {
      cursorAfterWrite: "OUT_OF_RANGE",
      sortedRelationships: true,
      createIsWatchedAs: "CREATE",
      ordersConcurrentWrites: true,
    },
    async () => ({ stop: async () => undefined }),
  ),
);
