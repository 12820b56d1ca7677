import { toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { readFileOutline } from "../../src/api/descriptors/file-outline.ts";
import {
  declaredExtensions,
  findDefinition,
} from "../../src/api/read/annotation/find-definition.ts";
import { file_svc_access_v1_policy } from "../../src/gen/proto/svc/access/v1/policy_pb.ts";

/** The definition of the annotation as data, so that programs need not load its descriptors. */
export function annotationSource(): string {
  const bytes = toBinary(FileDescriptorProtoSchema, file_svc_access_v1_policy.proto);
  const files = [readFileOutline({ bytes, target: false })];
  const { extensions, ...types } = findDefinition(files, declaredExtensions(files));
  // In an input, any file may declare it.
  const definition = { extensions: extensions.map((entry) => ({ ...entry, file: "" })), ...types };
  return `// Generated from proto/svc/access/v1/policy.proto by npm run generate. DO NOT EDIT.

/** The definition of the annotation; the definition in an input must be equal. */
export const ANNOTATION = ${JSON.stringify(definition, undefined, 2)} as const;
`;
}
