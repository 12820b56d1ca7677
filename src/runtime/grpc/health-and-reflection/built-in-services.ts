import { create, createFileRegistry, type DescService } from "@bufbuild/protobuf";
import { protoCamelCase } from "@bufbuild/protobuf/reflect";
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";

/**
 * The descriptors of health and of both versions of reflection, so that reflection lists them like
 * all other services. They never change, and are short enough to be written by hand rather than
 * generated.
 */
export function builtInServices(): readonly DescService[] {
  const files = [health(), reflection("v1"), reflection("v1alpha")];
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: files }));
  return [...registry].filter((type) => type.kind === "service");
}

/** The number, the name and the type of a field; a type in text is that of a message. */
type Field = readonly [number: number, name: string, type: Type | string, repeated?: "repeated"];

function health() {
  const type = "grpc.health.v1";
  const status = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];
  const response = {
    name: "HealthCheckResponse",
    field: [
      {
        ...field([1, "status", Type.ENUM]),
        typeName: `.${type}.HealthCheckResponse.ServingStatus`,
      },
    ],
    enumType: [{ name: "ServingStatus", value: status.map((name, number) => ({ name, number })) }],
  };
  const rpc = (name: string, serverStreaming: boolean) => ({
    name,
    inputType: `.${type}.HealthCheckRequest`,
    outputType: `.${type}.HealthCheckResponse`,
    serverStreaming,
  });
  return create(FileDescriptorProtoSchema, {
    name: "grpc/health/v1/health.proto",
    package: type,
    syntax: "proto3",
    messageType: [message("HealthCheckRequest", [[1, "service", Type.STRING]]), response],
    service: [{ name: "Health", method: [rpc("Check", false), rpc("Watch", true)] }],
  });
}

function reflection(version: "v1" | "v1alpha") {
  const type = `.grpc.reflection.${version}`;
  return create(FileDescriptorProtoSchema, {
    name: `grpc/reflection/${version}/reflection.proto`,
    package: type.slice(1),
    syntax: "proto3",
    messageType: [
      message("ServerReflectionRequest", [[1, "host", Type.STRING]], "message_request", [
        [3, "file_by_filename", Type.STRING],
        [4, "file_containing_symbol", Type.STRING],
        [5, "file_containing_extension", `${type}.ExtensionRequest`],
        [6, "all_extension_numbers_of_type", Type.STRING],
        [7, "list_services", Type.STRING],
      ]),
      message("ExtensionRequest", [
        [1, "containing_type", Type.STRING],
        [2, "extension_number", Type.INT32],
      ]),
      message(
        "ServerReflectionResponse",
        [
          [1, "valid_host", Type.STRING],
          [2, "original_request", `${type}.ServerReflectionRequest`],
        ],
        "message_response",
        [
          [4, "file_descriptor_response", `${type}.FileDescriptorResponse`],
          [5, "all_extension_numbers_response", `${type}.ExtensionNumberResponse`],
          [6, "list_services_response", `${type}.ListServiceResponse`],
          [7, "error_response", `${type}.ErrorResponse`],
        ],
      ),
      message("FileDescriptorResponse", [[1, "file_descriptor_proto", Type.BYTES, "repeated"]]),
      message("ExtensionNumberResponse", [
        [1, "base_type_name", Type.STRING],
        [2, "extension_number", Type.INT32, "repeated"],
      ]),
      message("ListServiceResponse", [[1, "service", `${type}.ServiceResponse`, "repeated"]]),
      message("ServiceResponse", [[1, "name", Type.STRING]]),
      message("ErrorResponse", [
        [1, "error_code", Type.INT32],
        [2, "error_message", Type.STRING],
      ]),
    ],
    service: [
      {
        name: "ServerReflection",
        method: [
          {
            name: "ServerReflectionInfo",
            inputType: `${type}.ServerReflectionRequest`,
            outputType: `${type}.ServerReflectionResponse`,
            clientStreaming: true,
            serverStreaming: true,
          },
        ],
      },
    ],
  });
}

/** @param oneof its name, with its fields */
function message(
  name: string,
  fields: readonly Field[],
  oneof?: string,
  choices: readonly Field[] = [],
) {
  return {
    name,
    field: [...fields.map(field), ...choices.map((one) => ({ ...field(one), oneofIndex: 0 }))],
    oneofDecl: oneof === undefined ? [] : [{ name: oneof }],
  };
}

function field([number, name, type, repeated]: Field) {
  return {
    number,
    name,
    // A proto compiler would set it.
    jsonName: protoCamelCase(name),
    label: repeated === undefined ? Label.OPTIONAL : Label.REPEATED,
    ...(typeof type === "string" ? { type: Type.MESSAGE, typeName: type } : { type }),
  };
}
