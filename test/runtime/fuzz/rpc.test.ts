/** Random calls of a whole service with Connect and gRPC-Web, over HTTP/1.1 and HTTP/2, in every mode. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MODES } from "../hostile/support/world.ts";
import { rpcLane } from "./rpc-lane.ts";
import { RUNS, runLanes, SEED } from "./run.ts";
import { type Subject, startSubject } from "./subject.ts";

const LANES = 16;
/** A third of all inputs. */
const COUNT = Math.ceil(RUNS / 3 / MODES.length);
/** From this number on, each kind of input occurs. */
const ALL_KINDS = 3_000;

describe.each(MODES)(`${COUNT} calls, seed ${SEED}, in mode %s`, (mode) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await startSubject(mode);
  });
  afterAll(() => subject.stop());

  test("unauthorized calls never reach a handler, and every response is valid", {
    timeout: 600_000,
  }, async () => {
    const statuses = new Map<string, number>();
    await runLanes(subject, COUNT, LANES, (random, lane) => {
      const from = lane % 2 === 0 ? "trusted" : "stranger";
      return rpcLane(subject, random, from, lane % 4 < 2 ? "1.1" : "2", statuses);
    });
    const handled = [...subject.handled.values()].reduce((sum, count) => sum + count, 0);
    expect(handled).toBeGreaterThan(COUNT / 100);
    // Few random inputs may lack a kind.
    if (COUNT < ALL_KINDS) return;
    // Not all inputs are refused before a handler.
    for (const rpc of [
      "GetNotice nobody",
      "GetProfile somebody",
      "Reconcile somebody",
      "Reset somebody",
      "GetDocument somebody",
      "UpdateDocument somebody",
      "Converse somebody",
      "UploadDocument somebody",
    ]) {
      // Some ten of them are usual: none is not an accident.
      expect(subject.handled.get(rpc) ?? 0, rpc).toBeGreaterThan(0);
    }
    for (const answer of [
      "200 application/proto",
      "200 application/json",
      "200 application/connect+proto",
      "200 application/connect+json",
      "200 application/grpc-web+proto",
      "200 application/grpc-web+json",
      "200 application/grpc-web-text+proto",
      "400 application/json",
      "401 application/json",
      "403 application/json",
      "501 application/json",
      "405 text/plain; charset=utf-8",
      "415 text/plain; charset=utf-8",
    ]) {
      expect(statuses.get(answer) ?? 0, answer).toBeGreaterThan(COUNT / 2_000);
    }
  });
});
