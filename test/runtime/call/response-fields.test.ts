import { describe, expect, test } from "vitest";
import {
  MAX_METADATA_BYTES,
  MAX_METADATA_VALUES,
  ResponseFields,
} from "../../../src/runtime/call/response-fields.ts";

describe.each(["http", "grpc"] as const)("over %s", (transport) => {
  test.each(["etag", "ETag", "retry-after", "location", "last-modified", "x-content-type-options"])(
    "a second value of %s is refused, and the first one stays",
    (name) => {
      const fields = new ResponseFields(transport, "header");
      fields.append(name, "a");
      expect(() => fields.append(name, "b")).toThrow(
        `the response header ${name.toLowerCase()} already has a value and can have only one: set it instead`,
      );
      expect([...(fields.values ?? [])]).toEqual([[name.toLowerCase(), "a"]]);
    },
  );

  test("a value that replaces another is not a second one", () => {
    const fields = new ResponseFields(transport, "trailer");
    fields.append("etag", "a");
    fields.set("etag", "b");
    expect([...(fields.values ?? [])]).toEqual([["etag", "b"]]);
  });

  test.each([
    ["set", MAX_METADATA_BYTES],
    ["append", MAX_METADATA_BYTES],
  ] as const)("all together are bounded: %s", (how, most) => {
    const fields = new ResponseFields(transport, "trailer");
    fields[how]("a", "v".repeat(most / 2 - 1));
    fields[how]("b", "v".repeat(most / 2 - 1));
    expect(() => fields[how]("c", "")).toThrow(
      "the response trailers are larger than 16384 bytes: send large values in the message",
    );
    expect(fields.values?.size).toBe(2);
  });

  test("their number is limited, even if they are empty", () => {
    const fields = new ResponseFields(transport, "header");
    for (let count = 0; count < MAX_METADATA_VALUES; count++) fields.append("a", "");
    expect(() => fields.append("a", "")).toThrow("the response headers have more than 512 values");
    expect(() => fields.set("b", "")).toThrow("have more than 512 values");
    fields.set("a", "");
    fields.append("b", "");
    expect(fields.values?.size).toBe(2);
  });

  test("replaced values do not count", () => {
    const fields = new ResponseFields(transport, "header");
    for (let time = 0; time < 3; time++) fields.set("a", "v".repeat(MAX_METADATA_BYTES - 1));
    fields.set("a", "v");
    fields.append("a", "w");
    fields.set("a", "v");
    fields.set("b", "v".repeat(MAX_METADATA_BYTES - 3));
    expect(fields.values?.size).toBe(2);
  });
});
