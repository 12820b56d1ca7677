import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  CodeGeneratorRequestSchema,
  FieldDescriptorProto_Type,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Rpc } from "../../../src/api/api.ts";
import {
  fileName,
  readCodeGeneratorRequest,
} from "../../../src/api/descriptors/code-generator-request.ts";
import { DescriptorError, type DescriptorFile } from "../../../src/api/descriptors/file-outline.ts";
import { readImage } from "../../../src/api/descriptors/image.ts";
import { HTTP_EXTENSION, POLICY_EXTENSION } from "../../../src/api/policy.ts";
import { readApi } from "../../../src/compiler/read/read-api.ts";
import { checkApi } from "../../../src/rules/check-api.ts";
import {
  DEFINITION,
  encode,
  encodeFile,
  HTTP_DEFINITION,
  methodOf,
  type WireField,
} from "../../api/descriptors.ts";
import { Workspace } from "../../support/workspace.ts";

const OWN = ["a/v1/a.proto", "b/v1/b.proto"];

/** A service over two files, as buf compiles it. */
const IMAGE = (() => {
  using workspace = new Workspace({
    "a/v1/a.proto": `syntax = "proto3"; package a.v1;
import "b/v1/b.proto";
import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";
service Things {
  rpc Get(b.v1.Request) returns (b.v1.Response) {
    option idempotency_level = NO_SIDE_EFFECTS;
    option deprecated = true;
    option (google.api.http) = {
      get: "/v1/{name=things/*}" response_body: "thing"
      additional_bindings {custom: {kind: "HEAD" path: "/v1/{thing.id}:probe"}}
    };
    option (svc.access.v1.policy) = {
      exposure: AUTHORIZED
      authz: {action: "view" resource: "thing:{name}" audience: "service" mode: CHECK_ONLY}
      audit: {event: "thing.get" risk_level: MEDIUM risk: LOW}
      rate_limit: {qps: 5 burst: 9}
      gateway: {publish: true methods: ["GET", "HEAD"]}
    };
  }
  rpc Watch(b.v1.Request) returns (stream b.v1.Response);
  rpc Upload(stream b.v1.Request) returns (b.v1.Response) {option idempotency_level = IDEMPOTENT;}
  rpc Talk(stream b.v1.Request) returns (stream b.v1.Response) {option (svc.access.v1.policy) = {};}
}`,
    "b/v1/b.proto": `syntax = "proto3"; package b.v1;
message Thing { string id = 1; }
message Request { string name = 1; Thing thing = 2; }
message Response { Thing thing = 1; }`,
  });
  return workspace.build();
})();

/** The same as protoc writes it: a plain descriptor set, which does not mark imports. */
function descriptorSet(include: (name: string) => boolean): Uint8Array {
  const { file } = fromBinary(FileDescriptorSetSchema, IMAGE);
  const plain = file.filter(({ name }) => include(name));
  for (const each of plain) delete each.$unknown;
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: plain }));
}

function generatorRequest(parameter = ""): Uint8Array {
  const { file } = fromBinary(
    FileDescriptorSetSchema,
    descriptorSet(() => true),
  );
  const request = { fileToGenerate: OWN, protoFile: file, parameter };
  return toBinary(CodeGeneratorRequestSchema, create(CodeGeneratorRequestSchema, request));
}

function rpcsOf(files: readonly DescriptorFile[]): Rpc[] {
  // The handmade files have no imports.
  const isDefined = files.some(({ bytes }) => fileName(bytes) === fileName(DEFINITION.bytes));
  const input = isDefined ? files : [DEFINITION, ...HTTP_DEFINITION, ...files];
  return readApi([input], undefined).api.services.flatMap(({ services }) =>
    services.flatMap(({ rpcs }) => rpcs),
  );
}

const single = (path: string) => ({
  path,
  found: { status: "found", kind: "string", repeated: false },
});

describe("a service", () => {
  const [get, watch, upload, talk] = rpcsOf(readImage(IMAGE, "image"));

  test("is read with all its options", () => {
    expect(get).toMatchObject({
      name: "Get",
      fullName: "a.v1.Things/Get",
      stream: "unary",
      request: "b.v1.Request",
      response: "b.v1.Response",
      idempotency: "NO_SIDE_EFFECTS",
      deprecated: true,
      policy: {
        exposure: "AUTHORIZED",
        authz: {
          action: "view",
          resource: "thing:{name}",
          audience: "service",
          mode: "CHECK_ONLY",
        },
        audit: { event: "thing.get", riskLevel: "MEDIUM", risk: "LOW" },
        rateLimit: { qps: 5, burst: 9 },
        gateway: { publish: true, methods: ["GET", "HEAD"] },
      },
      resource: { template: { type: "thing" }, fields: [single("name")] },
      position: { file: "a/v1/a.proto", path: [6, 0, 2, 0] },
    });
    expect(get?.http).toEqual([
      {
        path: [],
        problems: [],
        binding: {
          method: "GET",
          path: "/v1/{name=things/*}",
          template: expect.anything(),
          fields: [single("name")],
          responseBody: "thing",
        },
      },
      {
        path: [11, 0],
        problems: [],
        binding: {
          method: "HEAD",
          path: "/v1/{thing.id}:probe",
          template: expect.anything(),
          fields: [single("thing.id")],
        },
      },
    ]);
  });

  test("has no values for absent options", () => {
    expect(watch).toEqual({
      name: "Watch",
      fullName: "a.v1.Things/Watch",
      stream: "server_streaming",
      request: "b.v1.Request",
      response: "b.v1.Response",
      idempotency: "IDEMPOTENCY_UNKNOWN",
      deprecated: false,
      http: [],
      position: { file: "a/v1/a.proto", path: [6, 0, 2, 1] },
    });
    expect(upload).toMatchObject({ stream: "client_streaming", idempotency: "IDEMPOTENT" });
    expect(talk).toMatchObject({ stream: "bidi_streaming", policy: {} });
  });

  test("marks a redacted field of a request that a query could contain [EDGE-20]", () => {
    const set = fromBinary(FileDescriptorSetSchema, IMAGE);
    const thing = set.file.find(({ name }) => name === "b/v1/b.proto")?.messageType[0];
    Object.assign(thing?.field[0] as object, {
      options: create(FieldOptionsSchema, { debugRedact: true }),
    });
    const rpcs = rpcsOf(readImage(toBinary(FileDescriptorSetSchema, set), "image"));
    expect(rpcs.map(({ name, redactedRequest }) => [name, redactedRequest])).toEqual([
      ["Get", true],
      ["Watch", undefined],
      ["Upload", undefined],
      ["Talk", undefined],
    ]);
    expect(get).not.toHaveProperty("redactedRequest");
  });

  test("survives JSON", () => {
    const { api } = readApi([readImage(IMAGE, "image")], undefined);
    expect(JSON.parse(JSON.stringify(api))).toEqual(api);
  });
});

describe("the sources", () => {
  const fromImage = rpcsOf(readImage(IMAGE, "image"));

  test("of a CodeGeneratorRequest and of a descriptor set give what an image gives", () => {
    const request = readCodeGeneratorRequest(generatorRequest("target=routes,x=y"));
    expect(request).toMatchObject({ filesToGenerate: OWN, parameter: "target=routes,x=y" });
    expect(rpcsOf(request.files)).toEqual(fromImage);
    expect(
      rpcsOf(
        readImage(
          descriptorSet(() => true),
          "set",
        ),
      ),
    ).toEqual(fromImage);
  });

  test("mark files that are only imported", () => {
    const targets = (files: readonly DescriptorFile[]) =>
      files.filter(({ target }) => target).length;
    expect(targets(readImage(IMAGE, "image"))).toBe(OWN.length);
    expect(targets(readCodeGeneratorRequest(generatorRequest()).files)).toBe(OWN.length);
    const all = readImage(
      descriptorSet(() => true),
      "set",
    );
    expect(targets(all)).toBe(all.length);
  });

  test("without imports leave the fields of missing messages unknown, and report it", () => {
    const set = descriptorSet((name) => name === OWN[0]);
    const [get] = rpcsOf(readImage(set, "set"));
    expect(get?.policy).toEqual(fromImage[0]?.policy);
    expect(get?.resource).toMatchObject({
      fields: [{ path: "name", found: { status: "no_message", message: "b.v1.Request" } }],
    });
    expect(get?.http.map(({ problems }) => problems.map(({ message }) => message))).toEqual([
      [
        expect.stringContaining("the input does not contain b.v1.Request"),
        expect.stringContaining("b.v1.Response"),
      ],
      [expect.stringContaining("build it with its imports")],
    ]);
  });

  test("may give the files in any order", () => {
    const files = readImage(IMAGE, "image");
    expect(readApi([[...files].reverse()], undefined).api).toEqual(readApi([files], undefined).api);
  });
});

const REQUEST = {
  name: "Request",
  field: [{ name: "id", type: FieldDescriptorProto_Type.STRING }],
};

/** An encoded file `a.v1` with a service `S` of these RPCs. */
function fileWith(...method: ReturnType<typeof methodOf>[]): Uint8Array {
  const messageType = [REQUEST, { name: "Response" }];
  return encodeFile({
    name: "a.proto",
    package: "a.v1",
    messageType,
    service: [{ name: "S", method }],
  });
}

const target = (bytes: Uint8Array) => ({ bytes, target: true });

describe("a policy of several pieces", () => {
  const policyOf = (...pieces: Uint8Array[]) =>
    rpcsOf([
      target(
        fileWith(methodOf("Get", ...pieces.map((piece) => [POLICY_EXTENSION, piece] as const))),
      ),
    ])[0]?.policy;

  test("is merged as in protobuf: messages by field, lists in order, the last scalar", () => {
    const policy = policyOf(
      encode([1, 1], [2, encode([1, "view"], [3, "user"])], [3, encode([1, "a.b"], [2, 1])]),
      encode([2, encode([2, "skill:{id}"], [3, "service"])], [5, encode([1, true], [2, "GET"])]),
      encode([1, 2], [4, encode([1, 5])], [5, encode([1, false], [2, "PUT"])], [4, encode([2, 6])]),
      encode([3, encode([3, 0])]),
    );
    expect(policy).toEqual({
      exposure: "AUTHORIZED",
      authz: { action: "view", resource: "skill:{id}", audience: "service" },
      audit: { event: "a.b", riskLevel: "MEDIUM", risk: "LOW" },
      rateLimit: { qps: 5, burst: 6 },
      gateway: { publish: false, methods: ["GET", "PUT"] },
    });
  });

  test("is unset if it is empty, but never absent", () => {
    expect(policyOf(encode())).toEqual({});
    expect(policyOf()).toBeUndefined();
  });
});

test("an HTTP rule of several pieces is merged: the last pattern, all bindings", () => {
  const pieces = [
    encode([2, "/v1/x"], [11, encode([2, "/v1/y"])]),
    encode([4, "/v1/z"], [7, "*"]),
    encode([11, encode([5, "/v1/w"])]),
  ].map((piece) => [HTTP_EXTENSION, piece] as const);
  const [rpc] = rpcsOf([target(fileWith(methodOf("Do", ...pieces)))]);
  expect(
    rpc?.http.map(({ binding }) => `${binding?.method} ${binding?.path} ${binding?.body}`),
  ).toEqual(["POST /v1/z *", "GET /v1/y undefined", "DELETE /v1/w undefined"]);
});

test("a file without a package has services without one", () => {
  const bytes = encodeFile({
    name: "a.proto",
    service: [{ name: "S", method: [methodOf("Get")] }],
  });
  expect(rpcsOf([target(bytes)])[0]?.fullName).toBe("S/Get");
});

test("services are in the order of their names, RPCs in the order of their declaration", () => {
  const file = (name: string, ...services: string[]) =>
    target(
      encodeFile({
        name,
        package: "a.v1",
        service: services.map((service) => ({
          name: service,
          method: [methodOf("Z"), methodOf("A")],
        })),
      }),
    );
  const rpcs = rpcsOf([file("b.proto", "C", "A"), file("a.proto", "B")]);
  expect(rpcs.map(({ fullName }) => fullName.replace("a.v1.", ""))).toEqual([
    "A/Z",
    "A/A",
    "B/Z",
    "B/A",
    "C/Z",
    "C/A",
  ]);
  expect(rpcs[0]?.position).toEqual({ file: "b.proto", path: [6, 1, 2, 0] });
});

test("a level of idempotency that no version knows is unknown", () => {
  const options = encode([34, 9]);
  const method = encode([1, "Get"], [2, ".a.v1.Request"], [3, ".a.v1.Response"], [4, options]);
  const bytes = encode([1, "a.proto"], [2, "a.v1"], [6, encode([1, "S"], [2, method])]);
  expect(rpcsOf([target(bytes)])[0]?.idempotency).toBe("IDEMPOTENCY_UNKNOWN");
});

describe("several inputs", () => {
  const file = fileWith(methodOf("Get"));
  const other = fileWith(methodOf("Put"));

  test("that both contain a file have it once", () => {
    expect(readApi([[target(file)], [target(file)]], undefined).rpcs).toBe(1);
  });

  test.each([
    ["first", [[{ bytes: file, target: false }], [target(file)]]],
    ["last", [[target(file)], [{ bytes: file, target: false }]]],
  ])("of which the %s imports the file of another read it for itself", (_, inputs) => {
    expect(readApi(inputs, undefined).rpcs).toBe(1);
  });

  test("that contain two files with one name are an error", () => {
    expect(() => readApi([[target(file)], [target(other)]], undefined)).toThrow(
      /^two inputs contain different files named a\.proto: .*; build all inputs from one version of it/,
    );
  });

  test("of which one contains a file twice are an error", () => {
    expect(() => readApi([[target(file), target(file)]], undefined)).toThrow(
      new DescriptorError("the input contains a.proto twice"),
    );
  });

  test("that declare a service in two files are an error", () => {
    const moved = toBinary(FileDescriptorProtoSchema, {
      ...fromBinary(FileDescriptorProtoSchema, file),
      name: "b.proto",
    });
    expect(() => readApi([[target(file)], [target(moved)]], undefined)).toThrow(
      new DescriptorError(
        "the service a.v1.S is declared in a.proto and in b.proto; rename one, or leave one input out",
      ),
    );
  });
});

describe("invalid input", () => {
  test.each([
    [
      "nothing",
      new Uint8Array(),
      "image.binpb is not a buf image (it is empty); make one with buf build -o",
    ],
    ["text", new TextEncoder().encode('syntax = "proto3";'), "image.binpb is not a buf image ("],
    ["JSON", new TextEncoder().encode('{"file": []}'), "image.binpb is not a buf image ("],
    ["another message", encode([2, "x"]), "image.binpb is not a buf image (unexpected field 2)"],
    [
      "a file that ends too early",
      Uint8Array.of(0x0a, 0x05, 0x0a),
      "image.binpb is not a buf image (",
    ],
  ])("%s is not an image", (_, bytes, message) => {
    expect(() => readImage(bytes, "image.binpb")).toThrow(DescriptorError);
    expect(() => readImage(bytes, "image.binpb")).toThrow(message);
  });

  test.each([
    ["nothing", new Uint8Array(), "standard input is not a CodeGeneratorRequest, or names no file"],
    ["text", new TextEncoder().encode("hello"), "standard input is not a CodeGeneratorRequest"],
    [
      "an image",
      IMAGE,
      "standard input is not a CodeGeneratorRequest; svc-access generate reads images",
    ],
    [
      "no file to generate for",
      encode([2, "x=y"]),
      "names no file; run this plugin with buf generate or protoc",
    ],
    [
      "a file that is missing",
      encode([1, "a.proto"]),
      "the request names a.proto, but does not contain it",
    ],
    [
      "an invalid file",
      encode([1, "a.proto"], [15, Uint8Array.of(0x0a, 0x09)]),
      "is not a valid file descriptor",
    ],
  ])("%s is not a CodeGeneratorRequest", (_, bytes, message) => {
    expect(() => readCodeGeneratorRequest(bytes)).toThrow(DescriptorError);
    expect(() => readCodeGeneratorRequest(bytes)).toThrow(message);
  });

  const optionOf = (...fields: readonly WireField[]) =>
    encode([1, "a.proto"], [6, encode([1, "S"], [2, encode([1, "Get"], [4, encode(...fields)])])]);

  test.each([
    ["a file without a name", encode([2, "a.v1"]), "a file of the input has no name"],
    [
      "a service that ends too early",
      encode([1, "a.proto"], [6, Uint8Array.of(0x0a, 0x09)]),
      "a.proto is not a valid file descriptor",
    ],
    [
      "an HTTP rule that is a number",
      optionOf([HTTP_EXTENSION, 5]),
      "the option with the number of google.api.http is not a message",
    ],
    [
      "a policy that is text",
      optionOf([POLICY_EXTENSION, "hello"]),
      "the options of S/Get cannot be read",
    ],
    [
      "an HTTP rule that is text",
      optionOf([HTTP_EXTENSION, "hello"]),
      "the options of S/Get cannot be read",
    ],
  ])("%s is an error with its place", (_, bytes, message) => {
    expect(() => readApi([[DEFINITION, ...HTTP_DEFINITION, target(bytes)]], undefined)).toThrow(
      DescriptorError,
    );
    expect(() => readApi([[DEFINITION, ...HTTP_DEFINITION, target(bytes)]], undefined)).toThrow(
      message,
    );
  });
});

describe("input that is damaged", () => {
  const method = methodOf(
    "Get",
    [
      POLICY_EXTENSION,
      encode([1, 2], [2, encode([1, "view"], [2, "skill:{id}"])], [5, encode([2, "GET"])]),
    ],
    [
      HTTP_EXTENSION,
      encode([2, "/v1/{id}"], [11, encode([8, encode([1, "HEAD"], [2, "/v1/{id}"])])]),
    ],
  );
  const file = {
    name: "a.proto",
    package: "a.v1",
    messageType: [REQUEST, { name: "Response" }],
    service: [{ name: "S", method: [{ ...method, clientStreaming: true }] }],
    sourceCodeInfo: { location: [{ path: [6, 0, 2, 0], span: [4, 2, 9] }] },
  };
  const image = encode([1, encodeFile(file)]);
  const request = encode([1, "a.proto"], [2, "target=routes"], [15, encodeFile(file)]);

  /** All steps from an input to the report. */
  const readAll = (read: () => readonly DescriptorFile[]) => {
    try {
      const { api, locator } = readApi([[DEFINITION, ...HTTP_DEFINITION, ...read()]], undefined);
      checkApi(api, locator, undefined);
    } catch (error) {
      expect(error).toBeInstanceOf(DescriptorError);
    }
  };
  const sources = [
    ["an image", image, (bytes: Uint8Array) => readImage(bytes, "image")],
    ["a request", request, (bytes: Uint8Array) => readCodeGeneratorRequest(bytes).files],
  ] as const;

  test.each(sources)("complete %s is read", (_, bytes, read) => {
    expect(rpcsOf(read(bytes))[0]).toMatchObject({ policy: { exposure: "AUTHORIZED" } });
  });

  test.each(sources)(
    "%s that ends too early is a DescriptorError, and never another",
    (_, bytes, read) => {
      for (let length = 0; length < bytes.length; length++) {
        readAll(() => read(bytes.subarray(0, length)));
      }
    },
  );

  test.each(sources)(
    "%s with wrong bytes is a DescriptorError, and never another",
    (_, bytes, read) => {
      const changes = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), {
        minLength: 1,
        maxLength: 4,
      });
      fc.assert(
        fc.property(changes, (changed) => {
          const damaged = Uint8Array.from(bytes);
          for (const [at, byte] of changed) damaged[at] = byte;
          readAll(() => read(damaged));
        }),
        { numRuns: 3000 },
      );
    },
  );

  test.each(sources)(
    "random bytes in place of %s are a DescriptorError, and never another",
    (_, __, read) => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), (random) => readAll(() => read(random))),
        { numRuns: 2000 },
      );
    },
  );
});
