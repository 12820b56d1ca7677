/** Random gRPC calls at a whole service, in every mode; see `oracle.ts` for what may come of them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { grpcLane } from "./grpc-lane.ts";
import type { Mode } from "./oracle.ts";
import { RUNS, runLanes, SEED } from "./run.ts";
import { type Subject, startSubject } from "./subject.ts";

const MODES: readonly Mode[] = ["gateway_trusted", "idp_jwt", "hybrid"];
const LANES = 16;
const COUNT = Math.ceil(RUNS / 3 / MODES.length);

describe.each(MODES)(`${COUNT} calls, seed ${SEED}, in mode %s`, (mode) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await startSubject(mode);
  });
  afterAll(() => subject.stop());

  test("nobody gets in who may not, and every answer is in order", {
    timeout: 600_000,
  }, async () => {
    const statuses = new Map<number, number>();
    await runLanes(subject, COUNT, LANES, (random, lane) => {
      return grpcLane(subject, random, lane % 2 === 0 ? "trusted" : "stranger", statuses);
    });
    for (const rpc of [
      "GetNotice nobody",
      "GetProfile somebody",
      "Reconcile somebody",
      "Reset somebody",
      "GetDocument somebody",
      "Converse somebody",
      "UploadDocument somebody",
    ]) {
      expect(subject.handled.get(rpc) ?? 0, rpc).toBeGreaterThan(COUNT / 2_000);
    }
    for (const status of [0, 3, 7, 12, 16]) {
      expect(statuses.get(status) ?? 0, String(status)).toBeGreaterThan(COUNT / 2_000);
    }
  });
});
