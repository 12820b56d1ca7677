import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  FileDescriptorProtoSchema,
  type MethodDescriptorProtoSchema,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";

import type { DescriptorFile } from "../../src/api/descriptors/file-outline.ts";
import { file_google_api_annotations } from "../../src/gen/proto/google/api/annotations_pb.ts";
import { file_google_api_http } from "../../src/gen/proto/google/api/http_pb.ts";
import { file_svc_access_v1_policy } from "../../src/gen/proto/svc/access/v1/policy_pb.ts";

/** A field of a message that is written without its schema. */
export type WireField = readonly [number: number, value: number | string | boolean | Uint8Array];

/** Encodes a message by its field numbers, also with content that no compiler would write. */
export function encode(...fields: readonly WireField[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const [number, value] of fields) {
    if (typeof value === "number") writer.tag(number, WireType.Varint).int32(value);
    else if (typeof value === "boolean") writer.tag(number, WireType.Varint).bool(value);
    else if (typeof value === "string") writer.tag(number, WireType.LengthDelimited).string(value);
    else writer.tag(number, WireType.LengthDelimited).bytes(value);
  }
  return writer.finish();
}

/** An encoded `FileDescriptorProto`. */
export function encodeFile(init: MessageInitShape<typeof FileDescriptorProtoSchema>): Uint8Array {
  return toBinary(FileDescriptorProtoSchema, create(FileDescriptorProtoSchema, init));
}

/** An RPC from `a.v1.Request` to `a.v1.Response`, whose options are written by their field numbers. */
export function methodOf(
  name: string,
  ...options: readonly (readonly [number: number, message: Uint8Array])[]
): MessageInitShape<typeof MethodDescriptorProtoSchema> {
  const unknown = options.map(([no, message]) => {
    const data = new BinaryWriter().bytes(message).finish();
    return { no, wireType: WireType.LengthDelimited, data };
  });
  const encoded = create(MethodOptionsSchema, {});
  encoded.$unknown = unknown;
  return {
    name,
    inputType: ".a.v1.Request",
    outputType: ".a.v1.Response",
    ...(options.length === 0 ? {} : { options: encoded }),
  };
}

/** The definition of `google.api.http`. */
export const HTTP_DEFINITION: readonly DescriptorFile[] = [
  file_google_api_annotations,
  file_google_api_http,
].map(({ proto }) => ({ bytes: encodeFile(proto), target: false }));

/** The definition of the annotation, without which options are rejected. */
export const DEFINITION: DescriptorFile = {
  bytes: encodeFile(file_svc_access_v1_policy.proto),
  target: false,
};
