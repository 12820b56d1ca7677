/** How the two sides say how messages are compressed, and how they are notified that one is too large. */
import { create } from "@bufbuild/protobuf";
import { BytesValueSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { registryOf } from "../../../src/runtime/json/json-text.ts";
import { jsonCodec } from "../../../src/runtime/rpc/serve-call.ts";
import { requestEncoding, responseCoding } from "../../../src/runtime/wire/compression.ts";
import { EnvelopeParser, envelopeOf } from "../../../src/runtime/wire/envelope.ts";
import { binaryCodec } from "../../../src/runtime/wire/message-codec.ts";

test.each([
  ["content-encoding", "GZIP", "gzip"],
  ["content-encoding", "Deflate", "deflate"],
  ["content-encoding", "Identity", undefined],
  ["grpc-encoding", "gzip", "gzip"],
  ["grpc-encoding", "GZIP", "UNIMPLEMENTED"],
  ["connect-content-encoding", "GZIP", "UNIMPLEMENTED"],
])("%s: %s is %s", (header, value, expected) => {
  let found: string | undefined;
  try {
    found = requestEncoding(header, [value])?.name;
  } catch (error) {
    found = (error as { code: string }).code;
  }
  expect(found).toBe(expected);
});

test.each([
  ["gzip", "gzip"],
  ["gzip;q=1.0", "gzip"],
  ["GZip ; Q=0.5", "gzip"],
  ["br;q=1, gzip;q=0.8, *;q=0.1", "gzip"],
  ["gzip;q=0, deflate", "deflate"],
  ["gzip;q=0.000", undefined],
  ["gzip;q=x", undefined],
  ["gzip;level=9", undefined],
  ["xgzip", undefined],
  ["identity", undefined],
  ["", undefined],
])("Accept-Encoding: %s is answered in %s", (accepted, expected) => {
  expect(responseCoding([accepted])?.name).toBe(expected);
});

test("a message that is too large is reported with its limit", () => {
  const method = { input: BytesValueSchema, output: BytesValueSchema };
  const limits = { maxBytes: 10, maxElements: 10, maxResponseBytes: 10 };
  const message = create(BytesValueSchema, { value: new Uint8Array(20) });
  const codecs = [
    binaryCodec(method, limits),
    jsonCodec(method, registryOf([BytesValueSchema.file]), limits),
  ];
  for (const codec of codecs) {
    expect(() => codec.encode(message)).toThrow(
      "the response message is larger than 10 bytes (server.max_response_bytes)",
    );
  }
  const parser = new EnvelopeParser(10);
  parser.push(envelopeOf(new Uint8Array(11)));
  expect(() => parser.next()).toThrow(
    "a message is larger than 10 bytes, the limit of request messages",
  );
});
