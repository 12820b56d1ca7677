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

/** Registers the tests that every engine passes. They share one engine, and each uses its own objects. */
export function describeContract(target: ContractTarget): void {
  describe(`the contract of all engines: ${target.name} [ENG-1]`, () => {
    let open: OpenTarget;
    beforeAll(async () => {
      open = await target.open();
    });
    afterAll(() => open?.close());
    const opened = () => open;
    const { differences } = target;
    checksContract(opened, differences);
    checkAnyContract(opened);
    explainContract(opened);
    writesContract(opened, differences);
    badWritesContract(opened);
    cyclesContract(opened);
    lookupsContract(opened);
    filtersContract(opened, differences);
    badRequestsContract(opened);
    unknownCallersContract(opened);
    tokensContract(opened, differences);
    watchContract(opened, differences);
    signalsContract(opened);
  });
}
