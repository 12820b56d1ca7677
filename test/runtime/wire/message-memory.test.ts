/** What messages are taken to take in memory, against what they do. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { DescriptorProtoSchema, EmptySchema } from "@bufbuild/protobuf/wkt";
import { beforeAll, describe, expect, test } from "vitest";
import { largestMessageBytes } from "../../../src/runtime/wire/message-memory.ts";
import { FlatSchema } from "../http/unusual-protos/gen/unusual/kinds/v1/kinds_pb.ts";
import type { Measured } from "./support/measure-messages.ts";
import { WEIGHED } from "./support/weighed-messages.ts";

/** How much more a message may take than it weighs; and how much less, where services have such. */
const TOO_SMALL = 2;
const TOO_LARGE = 4.5;

const SCRIPT = fileURLToPath(new URL("support/measure-messages.ts", import.meta.url));

let measured: ReadonlyMap<string, Measured>;
beforeAll(async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", SCRIPT]);
  const all = JSON.parse(stdout) as Measured[];
  measured = new Map(all.map((each) => [each.name, each]));
});

describe("the estimate of a message is about its memory", () => {
  test.each(WEIGHED.map(({ name }) => name))("%s", (name) => {
    const { weighed, taken, isUsual } = measured.get(name) as Measured;
    expect(taken).toBeGreaterThan(0);
    expect(taken / weighed).toBeLessThan(TOO_SMALL);
    if (isUsual) expect(weighed / taken).toBeLessThan(TOO_LARGE);
  });
});

test("the largest message has many elements, even of a type with many fields", () => {
  const MIB = 1024 * 1024;
  const largest = (type: typeof EmptySchema | typeof FlatSchema) =>
    largestMessageBytes([type], 4 * MIB, 40_000);
  // Four have room in the usual budget.
  expect(largest(EmptySchema)).toBeLessThan(32 * MIB);
  expect(largest(FlatSchema)).toBeGreaterThan(largest(EmptySchema));
  for (const { name, weighed } of measured.values()) {
    expect(weighed, name).toBeLessThan(
      largestMessageBytes([FlatSchema, DescriptorProtoSchema], 4 * MIB, 40_000),
    );
  }
});
