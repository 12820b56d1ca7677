import {
  createFileRegistry,
  type DescMessage,
  type DescMethod,
  type FileRegistry,
  fromBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Workspace } from "../../support/workspace.ts";

const PROTO3 = `syntax = "proto3";
package a.v1;
import "google/protobuf/wrappers.proto";
enum Kind { KIND_UNSPECIFIED = 0; BOOK = 1; }
message Inner { string id = 1; Inner inner = 2; int64 big = 3; }
message Request {
  string id = 1;
  optional string optional_id = 2;
  int32 number = 3;
  optional int32 optional_number = 4;
  int64 big = 5;
  uint64 huge = 6;
  int64 text_big = 7 [jstype = JS_STRING];
  Kind kind = 8;
  optional Kind optional_kind = 9;
  Inner inner = 10;
  oneof target { string project = 11; int32 task = 12; Kind sort = 13; Inner nested = 14; google.protobuf.StringValue boxed = 22; }
  repeated string ids = 15;
  map<string, string> names = 16;
  bytes raw = 17;
  double real = 18;
  bool flag = 19;
  google.protobuf.StringValue wrapped = 20;
  google.protobuf.Int64Value wrapped_number = 21;
  string constructor = 23;
  uint32 unsigned = 24;
  sint32 zigzag = 25;
  sint64 long_zigzag = 26;
  fixed32 fixed = 27;
  fixed64 long_fixed = 28;
  sfixed32 signed_fixed = 29;
  sfixed64 long_signed_fixed = 30;
  float small = 31;
}
service Service {
  rpc One(Request) returns (Inner);
  rpc Many(stream Request) returns (Inner);
}
`;

const PROTO2 = `syntax = "proto2";
package b.v1;
enum Kind { BOOK = 1; PAGE = 2; }
message Request {
  optional string id = 1 [default = "other"];
  optional int32 number = 2 [default = 7];
  required string name = 3;
  optional Kind kind = 4;
}
`;

let registry: FileRegistry | undefined;

/** The messages of the protos above. */
export function messageOf(name: string): DescMessage {
  return load().getMessage(name) as DescMessage;
}

/** The methods of the service above. */
export function serviceMethod(name: string): DescMethod {
  const method = load()
    .getService("a.v1.Service")
    ?.methods.find((each) => each.name === name);
  if (method === undefined) throw new Error(`there is no ${name}`);
  return method;
}

function load(): FileRegistry {
  if (registry !== undefined) return registry;
  using workspace = new Workspace({ "a/v1/a.proto": PROTO3, "b/v1/b.proto": PROTO2 });
  registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, workspace.build()));
  return registry;
}
