import { create, toBinary } from "@bufbuild/protobuf";
import { SourceCodeInfoSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { DescriptorError } from "../../../src/api/descriptors/file-outline.ts";
import { Locator } from "../../../src/api/descriptors/locator.ts";
import { POLICY_EXTENSION, POLICY_FIELD, RATE_LIMIT_FIELD } from "../../../src/api/policy.ts";
import { encode } from "../descriptors.ts";

const FILE = "a.proto";
const RPC = [6, 0, 2, 0];
const OPTION = [...RPC, 4, POLICY_EXTENSION];
const QPS = [...OPTION, POLICY_FIELD.rateLimit, RATE_LIMIT_FIELD.qps];
const BURST = [...OPTION, POLICY_FIELD.rateLimit, RATE_LIMIT_FIELD.burst];

type Span = readonly [path: readonly number[], line: number, column: number];

/** A locator of one file with these locations, whose lines and columns count from 0. */
function locatorOf(...spans: readonly Span[]): Locator {
  const location = spans.map(([path, line, column]) => {
    return { path: [...path], span: [line, column, column + 1] };
  });
  const locator = new Locator();
  locator.add(FILE, toBinary(SourceCodeInfoSchema, create(SourceCodeInfoSchema, { location })));
  return locator;
}

const at = (locator: Locator, path: readonly number[]) => {
  const { line, column, path: found } = locator.locate({ file: FILE, path });
  return { line, column, path: found };
};

describe("the place of a descriptor path", () => {
  test("is the position of the element, counted from 1", () => {
    const locator = locatorOf([RPC, 9, 2], [OPTION, 10, 11], [QPS, 12, 6]);
    expect(at(locator, QPS)).toEqual({ line: 13, column: 7, path: QPS });
    expect(at(locator, RPC)).toEqual({ line: 10, column: 3, path: RPC });
  });

  test("is that of the whole option, if a compiler gives no more, as protoc", () => {
    const locator = locatorOf([RPC, 9, 2], [[...RPC, 4], 10, 4], [OPTION, 10, 4]);
    expect(at(locator, QPS)).toEqual({ line: 11, column: 5, path: OPTION });
    expect(at(locator, [...OPTION, POLICY_FIELD.exposure])).toEqual({
      line: 11,
      column: 5,
      path: OPTION,
    });
  });

  test("is that of the first option statement, if the option has no location", () => {
    const locator = locatorOf([RPC, 9, 2], [[...RPC, 4], 12, 4], [[...RPC, 4], 10, 4]);
    expect(at(locator, QPS)).toEqual({ line: 11, column: 5, path: [...RPC, 4] });
  });

  test("is that of the longest known prefix", () => {
    expect(at(locatorOf([RPC, 9, 2], [[6, 0], 3, 0]), QPS)).toEqual({
      line: 10,
      column: 3,
      path: RPC,
    });
    expect(at(locatorOf([[6, 0], 3, 0]), QPS)).toEqual({ line: 4, column: 1, path: [6, 0] });
  });

  test("is the first piece below it, if an option is written field by field", () => {
    const rateLimit = [...OPTION, POLICY_FIELD.rateLimit];
    const locator = locatorOf([RPC, 9, 2], [BURST, 14, 4], [QPS, 12, 4]);
    expect(at(locator, rateLimit)).toEqual({ line: 13, column: 5, path: QPS });
    expect(at(locator, OPTION)).toEqual({ line: 13, column: 5, path: QPS });
    expect(at(locator, [...OPTION, POLICY_FIELD.authz])).toEqual({
      line: 13,
      column: 5,
      path: QPS,
    });
  });

  test("is never a piece of another RPC, or of another option of the RPC", () => {
    const other = [6, 0, 2, 1, 4, POLICY_EXTENSION, 1];
    const deprecated = [...RPC, 4, 33];
    const locator = locatorOf([other, 20, 4], [deprecated, 10, 4], [RPC, 9, 2]);
    expect(at(locator, QPS)).toEqual({ line: 10, column: 3, path: RPC });
  });

  test("is the first of several locations of one path", () => {
    expect(at(locatorOf([OPTION, 12, 4], [OPTION, 10, 8], [OPTION, 10, 4]), OPTION)).toMatchObject({
      line: 11,
      column: 5,
    });
  });

  test("is read from an unpacked path and span, too", () => {
    const unpacked = encode(...OPTION.map((step) => [1, step] as const), [2, 4], [2, 6], [2, 9]);
    const locator = new Locator();
    locator.add(FILE, encode([1, unpacked]));
    expect(at(locator, QPS)).toEqual({ line: 5, column: 7, path: OPTION });
  });

  test("is read from steps with more bytes than needed", () => {
    // The path [6, 0, 2, 0], whose first step is written in two bytes, and the span [9, 2, 3].
    const content = [0x0a, 5, 0x86, 0, 0, 2, 0, 0x12, 3, 9, 2, 3];
    const locator = new Locator();
    locator.add(FILE, Uint8Array.from([0x0a, content.length, ...content]));
    expect(at(locator, RPC)).toEqual({ line: 10, column: 3, path: RPC });
  });

  test("is never a location with a path that no finding can have", () => {
    const deep = (length: number) => [...OPTION, ...Array.from({ length }, () => 1)];
    expect(at(locatorOf([RPC, 9, 2], [deep(26), 11, 4]), OPTION)).toMatchObject({ line: 12 });
    expect(at(locatorOf([RPC, 9, 2], [deep(27), 11, 4]), OPTION)).toMatchObject({ line: 10 });
  });

  // Each took more than ten seconds.
  test.each([
    ["many forged locations with long paths", 64, 4000, 10],
    ["few forged locations with long paths, for each finding", 63, 50_000, 300],
  ])("is found soon among %s", (_, count, steps, findings) => {
    const long = [...OPTION, ...Array.from({ length: steps }, () => 1)];
    const forged = Array.from({ length: count }, (): Span => [long, 11, 4]);
    const locator = locatorOf([RPC, 9, 2], ...forged);
    const start = process.cpuUsage();
    for (let finding = 0; finding < findings; finding++) {
      expect(at(locator, QPS)).toEqual({ line: 10, column: 3, path: RPC });
    }
    // Not the time on the clock, which depends on other processes.
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(3000);
  });

  test("is not a line if the input has no source information", () => {
    expect(new Locator().locate({ file: FILE, path: QPS })).toEqual({ file: FILE, path: QPS });
    expect(locatorOf().locate({ file: FILE, path: QPS })).toEqual({ file: FILE, path: QPS });
    expect(locatorOf([RPC, 9, 2]).locate({ file: "other.proto", path: RPC })).toEqual({
      file: "other.proto",
      path: RPC,
    });
  });
});

test("the position in a text file is unchanged", () => {
  const position = { file: "svc-access.yaml", line: 3, column: 5 };
  expect(new Locator().locate(position)).toEqual(position);
});

test.each([
  ["a location that ends too early", Uint8Array.of(0x0a, 0x7f, 0x0a)],
  ["a path that ends too early", encode([1, Uint8Array.of(0x0a, 0x08, 0x06)])],
  ["no message", Uint8Array.of(0xff, 0xff, 0xff)],
])("source information with %s is a DescriptorError that names the file", (_, bytes) => {
  const locator = new Locator();
  locator.add(FILE, bytes);
  expect(() => locator.locate({ file: FILE, path: RPC })).toThrow(DescriptorError);
  expect(() => locator.locate({ file: FILE, path: RPC })).toThrow(
    "the source information of a.proto",
  );
  expect(() => locator.isIgnored({ file: FILE, path: RPC }, "RULE")).toThrow(DescriptorError);
});

describe("buf:lint:ignore", () => {
  const rule = "ACCESS_AUDIT_WRITE";
  const ignored = (path: readonly number[], comment: string) => {
    const locator = new Locator();
    const location = [{ path: [...path], span: [1, 0, 1], leadingComments: comment }];
    locator.add(FILE, toBinary(SourceCodeInfoSchema, create(SourceCodeInfoSchema, { location })));
    return locator.isIgnored({ file: FILE, path: QPS }, rule);
  };

  test.each([
    ["above the RPC", RPC, ` buf:lint:ignore ${rule}\n`],
    ["above the service", [6, 0], ` buf:lint:ignore ${rule}\n`],
    ["below other lines", RPC, ` Gets a thing.\n\n  buf:lint:ignore ${rule}\n`],
    ["with a reason", RPC, ` buf:lint:ignore ${rule} since it is not worth a line\n`],
  ])("%s silences its rule", (_, path, comment) => {
    expect(ignored(path, comment)).toBe(true);
  });

  test.each([
    ["of another rule", RPC, " buf:lint:ignore ACCESS_AUTHZ_WRITE\n"],
    ["of a rule whose name continues", RPC, ` buf:lint:ignore ${rule}_MORE\n`],
    ["of no rule", RPC, " buf:lint:ignore\n"],
    ["inside a sentence", RPC, ` Never write buf:lint:ignore ${rule} here.\n`],
    ["above another RPC", [6, 0, 2, 1], ` buf:lint:ignore ${rule}\n`],
    ["above another service", [6, 1], ` buf:lint:ignore ${rule}\n`],
  ])("%s silences nothing", (_, path, comment) => {
    expect(ignored(path, comment)).toBe(false);
  });

  test("silences nothing without source information, or outside protobuf files", () => {
    expect(new Locator().isIgnored({ file: FILE, path: RPC }, rule)).toBe(false);
    expect(new Locator().isIgnored({ file: FILE, line: 1, column: 1 }, rule)).toBe(false);
  });
});
