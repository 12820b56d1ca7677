/** A process that ends at any call of its database or its engine, on whichever of them the tests run. */
import { afterAll, beforeAll, describe } from "vitest";
import { IS_THOROUGH } from "../../../../test/support/effort.ts";
import { SYSTEM_TOKEN } from "../resilience/stopped-operations.ts";
import { testStops } from "../resilience/stops.ts";
import { write } from "../rights/rights-engine.ts";
import { type IamService, INTERNAL_TOKEN, startIam } from "../support/iam-service.ts";
import { CutOff } from "./cut-off.ts";

const STEP = IS_THOROUGH ? 1 : 5;
/** More calls than any operation makes. */
const MOST_CALLS = 300;

describe.each(["before", "after"] as const)("a process that ends %s a call", (moment) => {
  let iam: IamService;
  let cut: CutOff;
  beforeAll(async () => {
    const token = [{ service: "hub", token: INTERNAL_TOKEN }];
    iam = await startIam({
      logLevel: "silent",
      authn: { internal_call: { enabled: true, token, system_token: SYSTEM_TOKEN } },
    });
    const { engine } = iam.options;
    await write(engine as NonNullable<typeof engine>, "zone:acme#owner@user:root");
    cut = new CutOff(iam, moment);
  });
  afterAll(() => iam.stop());

  const stop = { begin: (at: number) => cut.begin(at), end: () => cut.end() };
  testStops(() => iam, stop, { step: STEP, most: MOST_CALLS });
});
