import { afterAll, beforeAll, describe } from "vitest";
import { badRequestsContract } from "./bad-requests.ts";
import { badWritesContract } from "./bad-writes.ts";
import { checkAnyContract } from "./check-any.ts";
import { checksContract } from "./checks.ts";
import { cyclesContract } from "./cycles.ts";
import { explainContract } from "./explain.ts";
import { filtersContract } from "./filters.ts";
import { lookupsContract } from "./lookups.ts";
import { signalsContract } from "./signals.ts";
import type { ContractTarget, OpenTarget } from "./target.ts";
import { tokensContract } from "./tokens.ts";
import { unknownCallersContract } from "./unknown-callers.ts";
import { watchContract } from "./watch.ts";
import { writesContract } from "./writes.ts";

/**
 * Registers the tests that every engine passes. They share one engine, and each uses its own objects.
 *
 * @param isWhole - false for the checks, writes and tokens only, where other targets have the rest
 */
export function describeContract(target: ContractTarget, isWhole = true): void {
  describe(`the contract of all engines: ${target.name} [ENG-1]`, () => {
    let open: OpenTarget;
    beforeAll(async () => {
      open = await target.open();
    });
    afterAll(() => open?.close());
    const opened = () => open;
    const { differences } = target;
    checksContract(opened, differences);
    writesContract(opened, differences);
    tokensContract(opened, differences);
    if (!isWhole) return;
    checkAnyContract(opened);
    explainContract(opened);
    badWritesContract(opened);
    cyclesContract(opened);
    lookupsContract(opened);
    filtersContract(opened, differences);
    badRequestsContract(opened);
    unknownCallersContract(opened);
    watchContract(opened, differences);
    signalsContract(opened);
  });
}
