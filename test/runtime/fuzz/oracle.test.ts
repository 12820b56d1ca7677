/** The fuzzer finds services with a security hole. */
import { expect, test } from "vitest";
import { columnsOf } from "../../support/effort.ts";
import type { WorldOptions } from "../hostile/support/world.ts";
import { grpcLane } from "./grpc-lane.ts";
import { httpLane } from "./http-lane.ts";
import type { Mode } from "./oracle.ts";
import type { Random } from "./random.ts";
import { rpcLane } from "./rpc-lane.ts";
import { type Lane, runLanes } from "./run.ts";
import { type Subject, startSubject } from "./subject.ts";

const HOLES: Readonly<Record<string, [Mode, Partial<WorldOptions>, RegExp]>> = {
  "trusts every peer": [
    "gateway_trusted",
    { authn: { gateway: { trusted_peers: ["127.0.0.0/8"] } } },
    /has not called/,
  ],
  "checks nothing": ["hybrid", { authz: { enabled: false } }, /holds nothing/],
};

test.each(Object.entries(HOLES).map((hole, turn) => [...hole, turn] as const))(
  "finds a service that %s",
  async (_title, [mode, options, expected], turn) => {
    const lanes: ((...args: [Subject, Random, "trusted" | "stranger"]) => Lane)[] = [
      (...args) => httpLane(...args, new Map()),
      (...args) => grpcLane(...args, new Map(), "grpc"),
      (...args) => grpcLane(...args, new Map(), "http"),
      (...args) => rpcLane(...args, "1.1", new Map()),
      (...args) => rpcLane(...args, "2", new Map()),
    ];
    for (const lane of columnsOf(lanes, turn, 5)) {
      const subject = await startSubject(mode, options);
      const run = runLanes(subject, 4_000, 4, (random, index) =>
        lane(subject, random, index % 2 === 0 ? "trusted" : "stranger"),
      );
      await expect(run).rejects.toThrow();
      expect(subject.violations[0]).toMatch(expected);
      await subject.stop();
    }
  },
);
