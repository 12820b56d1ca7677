/** Random gRPC calls of a whole service, on its gRPC port and its HTTP port, in every mode; `oracle.ts` has the allowed outcomes. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MODES } from "../hostile/support/world.ts";
import { grpcLane } from "./grpc-lane.ts";
import { RUNS, runLanes, SEED } from "./run.ts";
import { type Subject, startSubject } from "./subject.ts";

const LANES = 16;
/** A third of all inputs, half of it on each port. */
const COUNT = Math.ceil(RUNS / 3 / MODES.length);
/** From this number on, each kind of input occurs. */
const ALL_KINDS = 10_000;

describe.each(MODES)(`${COUNT} calls, seed ${SEED}, in mode %s`, (mode) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await startSubject(mode);
  });
  afterAll(() => subject.stop());

  test("unauthorized calls never reach a handler, and every response is valid", {
    timeout: 600_000,
  }, async () => {
    const statuses = new Map<number, number>();
    await runLanes(subject, COUNT, LANES, (random, lane) => {
      const from = lane % 2 === 0 ? "trusted" : "stranger";
      return grpcLane(subject, random, from, statuses, lane % 4 < 2 ? "grpc" : "http");
    });
    const handled = [...subject.handled.values()].reduce((sum, count) => sum + count, 0);
    expect(handled).toBeGreaterThan(COUNT / 100);
    // Few random inputs may lack a kind.
    if (COUNT < ALL_KINDS) return;
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
