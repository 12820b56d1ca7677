/** The CPU time of an invalid body, compared with a valid one in the same run. */
import type { DescMessage } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { compileJsonMessage } from "../../../src/runtime/json/json-message.ts";
import { registryOf } from "../../../src/runtime/json/json-text.ts";
import { cpuMilliseconds } from "../../support/cpu-time.ts";
import { AllSchema, FlatSchema } from "../http/unusual-protos/gen/unusual/kinds/v1/kinds_pb.ts";
import { repeat } from "./decoding.ts";

/** One more pass to find the position, and one within the failing part; earlier it was 7 to 28 times. */
const TIMES = 5;
const RUNS = 5;
/** The clock of the processor is too coarse for less. */
const LEAST_MILLISECONDS = 4;

/** The minimum CPU time of some runs, since garbage collections are random. */
function cost(message: DescMessage, text: string): number {
  const decode = compileJsonMessage(message, registryOf([message.file]), {
    maxElements: 1_000_000,
  });
  const bytes = Buffer.from(text);
  const run = (): void => {
    try {
      decode(bytes, { take: () => undefined });
    } catch {
      // Only the time of an invalid body matters.
    }
  };
  return Math.min(...Array.from({ length: RUNS }, () => cpuMilliseconds(run)));
}

const levels = (count: number, inner: string): string => {
  let text = inner;
  for (let level = 0; level < count; level++) {
    text = `{"smalls":[${repeat(600, String)}],"texts":[${repeat(60, () => '"a"')}],"flat":${text}}`;
  }
  return text;
};

describe("a body whose last part is invalid takes about as long as a valid one", {
  timeout: 60_000,
}, () => {
  test.each<[string, DescMessage, (last: string) => string, string, string]>([
    ["numbers", FlatSchema, (last) => `{"smalls":[${repeat(60_000, String)},${last}]}`, "1", '"x"'],
    [
      "texts",
      FlatSchema,
      (last) => `{"texts":[${repeat(60_000, () => '"a"')},${last}]}`,
      '"a"',
      "1",
    ],
    [
      "enums",
      FlatSchema,
      (last) => `{"shades":[${repeat(60_000, () => '"SHADE_DARK"')},${last}]}`,
      "1",
      '"x"',
    ],
    [
      "a map",
      AllSchema,
      (last) => `{"datas":{${repeat(20_000, (index) => `"${index}":""`)},"99999":${last}}}`,
      '""',
      "1",
    ],
    [
      "messages inside of each other",
      FlatSchema,
      (last) => levels(90, `{"text":${last}}`),
      '""',
      "1",
    ],
  ])("%s", (_name, message, body, right, wrong) => {
    const least = Math.max(LEAST_MILLISECONDS, cost(message, body(right)));
    if (process.env["SHOW"])
      console.log(_name, cost(message, body(right)), cost(message, body(wrong)));
    expect(cost(message, body(wrong))).toBeLessThan(least * TIMES);
  });
});
