/** Images that no compiler writes are read as protobuf specifies, or rejected. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, test } from "vitest";
import type { Rpc } from "../../../src/api/api.ts";
import { DescriptorError } from "../../../src/api/descriptors/file-outline.ts";
import { readImage } from "../../../src/api/descriptors/image.ts";
import { HTTP_EXTENSION, POLICY_EXTENSION } from "../../../src/api/policy.ts";
import { readApi } from "../../../src/compiler/read/read-api.ts";
import { DEFINITION, encode, HTTP_DEFINITION } from "../descriptors.ts";

const REQUEST = encode([1, "Request"], [2, encode([1, "id"], [3, 1], [4, 1], [5, 9])]);

function rpcOf(...options: readonly Uint8Array[]): Rpc | undefined {
  const parts = options.map((bytes) => [4, bytes] as const);
  const method = encode([1, "Get"], [2, ".a.v1.Request"], [3, ".a.v1.Request"], ...parts);
  const file = encode(
    [1, "a.proto"],
    [2, "a.v1"],
    [4, REQUEST],
    [6, encode([1, "S"], [2, method])],
    [9, encode([1, encode([1, Uint8Array.of(6, 0, 2, 0)], [2, Uint8Array.of(4, 2, 9)])])],
    [9, encode([1, encode([1, Uint8Array.of(6, 0)], [2, Uint8Array.of(3, 0, 9)])])],
  );
  const image = encode(
    [1, file],
    ...[DEFINITION, ...HTTP_DEFINITION].map(({ bytes }) => [1, bytes] as const),
  );
  const { api, locator } = readApi([readImage(image, "image")], undefined);
  expect(locator.locate({ file: "a.proto", path: [6, 0, 2, 0] })).toMatchObject({ line: 5 });
  return api.services.find(({ name }) => name === "a.v1")?.services[0]?.rpcs[0];
}

describe("a message that occurs twice is merged, as protobuf has it", () => {
  const policy = encode([POLICY_EXTENSION, encode([1, 0])]);
  const http = encode([HTTP_EXTENSION, encode([2, "/v1/{id}"])]);

  test.each([
    ["the policy first", [policy, http]],
    ["the policy last", [http, policy]],
    ["with options between that say nothing", [policy, encode(), http, encode()]],
  ])("MethodOptions: %s", (_, options) => {
    const rpc = rpcOf(...options);
    expect(rpc?.policy?.exposure).toBe("PUBLIC");
    expect(rpc?.http.map(({ binding }) => binding?.path)).toEqual(["/v1/{id}"]);
  });

  test("an exposure that the second occurrence overrides is overridden", () => {
    const rpc = rpcOf(policy, encode([33, true]), encode([POLICY_EXTENSION, encode([1, 2])]));
    expect(rpc?.policy?.exposure).toBe("AUTHORIZED");
    expect(rpc?.deprecated).toBe(true);
  });

  test("CustomHttpPattern, unless another pattern is between them", () => {
    const kind = encode([HTTP_EXTENSION, encode([8, encode([1, "HEAD"])])]);
    const path = encode([HTTP_EXTENSION, encode([8, encode([2, "/v1/{id}"])])]);
    const get = encode([HTTP_EXTENSION, encode([2, "/v1/x"])]);
    expect(rpcOf(kind, path)?.http[0]?.binding).toMatchObject({ method: "HEAD", path: "/v1/{id}" });
    expect(rpcOf(kind, get, path)?.http[0]?.binding).toBeUndefined();
  });
});

describe("messages that nest too deep are always rejected", () => {
  function nested(depth: number): Uint8Array {
    let bytes = encode([1, "M"]);
    for (let level = 0; level < depth; level++) {
      const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).string("M");
      bytes = writer.tag(3, WireType.LengthDelimited).bytes(bytes).finish();
    }
    return bytes;
  }
  const read = (depth: number) => {
    const file = encode([1, "deep.proto"], [2, "deep"], [4, encode([1, "A"])], [4, nested(depth)]);
    return readApi([[{ bytes: file, target: false }]], undefined);
  };

  test.each([0, 1, 99, 100])("%i levels are read", (depth) => {
    expect(() => read(depth)).not.toThrow();
  });

  test.each([101, 102, 300, 3000])("%i levels are refused", (depth) => {
    expect(() => read(depth)).toThrow(DescriptorError);
    expect(() => read(depth)).toThrow("the messages of deep.proto nest more than 100 deep");
  });

  test("CustomHttpPattern, with each occurrence as a separate message", () => {
    const custom = encode([1, "HEAD"], [2, "/v1/{id}"]);
    const [begin, rest] = [custom.subarray(0, 8), custom.subarray(8)];
    expect(() => rpcOf(encode([HTTP_EXTENSION, encode([8, begin], [8, rest])]))).toThrow(
      DescriptorError,
    );
  });

  test("gateway, whose methods follow each other", () => {
    const gateway = (method: string) =>
      encode([POLICY_EXTENSION, encode([5, encode([2, method])], [5, encode([2, "PUT"])])]);
    expect(rpcOf(gateway("GET"), gateway("POST"))?.policy?.gateway?.methods).toEqual([
      "GET",
      "PUT",
      "POST",
      "PUT",
    ]);
  });
});

describe("an option that occurs very often is read in one pass", () => {
  const TIMES = 20_000;
  const often = (field: number, bytes: Uint8Array) =>
    Array.from({ length: TIMES }, () => [field, bytes] as const);

  // Where each occurrence reads those before it again, these take many seconds.
  test.each([
    ["CustomHttpPattern", HTTP_EXTENSION, encode(...often(8, encode([1, "HEAD"], [2, "/v1/x"])))],
    ["the gateway", POLICY_EXTENSION, encode(...often(5, encode([2, "GET"])))],
  ])("%s", (_, extension, bytes) => {
    const begin = performance.now();
    const rpc = rpcOf(encode([extension, bytes]));
    expect(rpc).toBeDefined();
    expect(performance.now() - begin).toBeLessThan(2000);
  });
});
