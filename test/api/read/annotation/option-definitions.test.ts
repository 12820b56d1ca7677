/**
 * `google.api.http` and the fields of MethodOptions have the meaning that their publishers define: an input that
 * defines them differently is rejected at its RPCs, and each published version is accepted.
 */
import { clone, create } from "@bufbuild/protobuf";
import {
  DescriptorProtoSchema,
  FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  file_google_protobuf_descriptor,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { HTTP_EXTENSION, POLICY_EXTENSION } from "../../../../src/api/policy.ts";
import {
  HTTP_OPTION,
  METHOD_OPTIONS,
} from "../../../../src/api/read/annotation/genuine-options.ts";
import { readApi } from "../../../../src/compiler/read/read-api.ts";
import { file_google_api_annotations } from "../../../../src/gen/proto/google/api/annotations_pb.ts";
import { file_google_api_http } from "../../../../src/gen/proto/google/api/http_pb.ts";
import { checkApi } from "../../../../src/rules/check-api.ts";
import { DEFINITION, encode, encodeFile, methodOf } from "../../descriptors.ts";

const ANNOTATIONS = file_google_api_annotations.proto;
const HTTP = file_google_api_http.proto;
const DESCRIPTOR = file_google_protobuf_descriptor.proto;
const POLICY = [POLICY_EXTENSION, encode([1, 0], [4, encode([1, 1])])] as const;
const GET = [HTTP_EXTENSION, encode([2, "/v1/things"])] as const;

/** The errors at two RPCs, the first of which has an HTTP rule, and that RPC. */
function check(definitions: readonly FileDescriptorProto[], withRule = true) {
  const method = [methodOf("A", POLICY, ...(withRule ? [GET] : [])), methodOf("B", POLICY)];
  const bytes = encodeFile({ name: "a.proto", package: "a.v1", service: [{ name: "S", method }] });
  const files = definitions.map((file) => ({ bytes: encodeFile(file), target: false }));
  const { api, locator } = readApi([[DEFINITION, ...files, { bytes, target: true }]], undefined);
  const { diagnostics } = checkApi(api, locator, undefined);
  const [rpc] = api.services.find(({ name }) => name === "a.v1")?.services[0]?.rpcs ?? [];
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  return { rpc, errors: errors.map(({ rule, message }) => `${rule}: ${message}`) };
}

function expectAccepted(...definitions: readonly FileDescriptorProto[]): void {
  const { rpc, errors } = check(definitions);
  expect(errors).toEqual([]);
  expect(rpc?.http[0]?.binding).toMatchObject({ method: "GET", path: "/v1/things" });
}

function changed(file: FileDescriptorProto, change: (copy: FileDescriptorProto) => void) {
  const copy = clone(FileDescriptorProtoSchema, file);
  change(copy);
  return copy;
}

function message(file: FileDescriptorProto, name: string) {
  const found = file.messageType.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
}

function fieldOf(file: FileDescriptorProto, owner: string, name: string) {
  const found = message(file, owner).field.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
}

describe("google.api.http is accepted", () => {
  test("as it is", () => expectAccepted(ANNOTATIONS, HTTP));

  test.each<[string, (file: FileDescriptorProto) => void]>([
    ["older, without response_body", (file) => message(file, "HttpRule").field.pop()],
    [
      "newer, with a further field",
      (file) => {
        const field = { name: "further", number: 99, type: Type.BOOL, label: Label.OPTIONAL };
        message(file, "HttpRule").field.push(create(FieldDescriptorProtoSchema, field));
      },
    ],
    ["without the message Http", (file) => file.messageType.shift()],
    ["in another order", (file) => file.messageType.reverse()],
    ["under another path", (file) => (file.name = "third_party/http.proto")],
    ["without options of the file", (file) => (file.options = undefined as never)],
  ])("%s", (_, change) => expectAccepted(ANNOTATIONS, changed(HTTP, change)));

  test("without an HTTP rule, it may be absent", () => {
    expect(check([], false).errors).toEqual([]);
  });
});

describe("another google.api.http is rejected at each RPC that has it", () => {
  const swap = (file: FileDescriptorProto) => {
    fieldOf(file, "HttpRule", "get").number = 5;
    fieldOf(file, "HttpRule", "delete").number = 2;
  };
  const read = [...HTTP_OPTION.messages].flatMap(([name, fields]) =>
    fields.map((field) => [name.replace("google.api.", ""), field.name] as const),
  );
  const mutations = read.flatMap(
    ([owner, name]) =>
      [
        [
          `${owner}.${name}: its name`,
          (file: FileDescriptorProto): unknown => (fieldOf(file, owner, name).name = "x"),
        ],
        [
          `${owner}.${name}: its number`,
          (file: FileDescriptorProto): unknown => (fieldOf(file, owner, name).number = 90),
        ],
        [
          `${owner}.${name}: its type`,
          (file: FileDescriptorProto): unknown => (fieldOf(file, owner, name).type = Type.BYTES),
        ],
        [
          `${owner}.${name}: its label`,
          (file: FileDescriptorProto): unknown =>
            (fieldOf(file, owner, name).label = Label.REQUIRED),
        ],
      ] as const,
  );

  test.each([["get and delete swapped", swap], ...mutations] as const)("%s", (_, change) => {
    const { rpc, errors } = check([ANNOTATIONS, changed(HTTP, change)]);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(
      /^ACCESS_HTTP_RULE_VALID: google\.api\.http: the input defines it differently/,
    );
    expect(rpc?.http[0]?.binding).toBeUndefined();
  });

  test("the difference and the fix are named", () => {
    expect(check([ANNOTATIONS, changed(HTTP, swap)]).errors[0]).toContain(
      "google.api.HttpRule of google/api/http.proto has oneof pattern string get = 5 instead of oneof pattern string get = 2",
    );
  });

  test("the genuine one and a forged one", () => {
    const forged = changed(HTTP, (file) => {
      swap(file);
      file.name = "z.proto";
    });
    expect(check([ANNOTATIONS, HTTP, forged]).errors).toHaveLength(1);
  });

  test("in messages that replace a part of its package", () => {
    // Its full name is the genuine one: package google, message api, message HttpRule.
    const nested = changed(HTTP, (file) => {
      swap(file);
      file.package = "google";
      const { messageType } = file;
      file.messageType = [create(DescriptorProtoSchema, { name: "api", nestedType: messageType })];
    });
    const ofNoPackage = changed(nested, (file) => {
      file.package = "";
      const { messageType } = file;
      const google = { name: "google", nestedType: messageType };
      file.messageType = [create(DescriptorProtoSchema, google)];
    });
    for (const forged of [nested, ofNoPackage]) {
      expect(check([ANNOTATIONS, forged]).errors).toEqual([
        expect.stringContaining("string get = 5 instead of oneof pattern string get = 2"),
      ]);
    }
  });

  test("without the file of the rule, as an image that leaves out a forged one", () => {
    expect(check([ANNOTATIONS]).errors).toEqual([
      expect.stringContaining("does not contain the definition"),
    ]);
  });

  test("an extension of the rule inside a message, which takes the number of a field", () => {
    const field = {
      name: "remove",
      number: 2,
      type: Type.STRING,
      label: Label.OPTIONAL,
      extendee: ".google.api.HttpRule",
    };
    const extending = create(FileDescriptorProtoSchema, {
      name: "x.proto",
      package: "x",
      messageType: [{ name: "X", extension: [field] }],
    });
    const lacking = changed(HTTP, (file) => {
      const rule = message(file, "HttpRule");
      rule.field = rule.field.filter(({ number }) => number !== 2);
    });
    expect(check([ANNOTATIONS, lacking, extending]).errors).toEqual([
      expect.stringContaining("x.X.remove of x.proto takes 2 of google.api.HttpRule"),
    ]);
  });

  test("with another number, at every RPC: its rules are somewhere else", () => {
    const renumbered = changed(ANNOTATIONS, ({ extension }) => {
      for (const one of extension) one.number = 72_295_729;
    });
    expect(check([renumbered, HTTP], false).errors).toHaveLength(2);
  });

  test("another extension under the number", () => {
    const other = changed(ANNOTATIONS, (file) =>
      Object.assign(file, { name: "x.proto", package: "x" }),
    );
    expect(check([other, HTTP]).errors).toHaveLength(1);
    expect(check([ANNOTATIONS, other, HTTP]).errors).toHaveLength(1);
  });

  test("no definition, as in an image without imports", () => {
    expect(check([]).errors[0]).toContain("build the input with its imports");
  });
});

describe("google.protobuf.MethodOptions", () => {
  const options = (file: FileDescriptorProto) => message(file, "MethodOptions");
  const level = (file: FileDescriptorProto) => options(file).enumType[0] ?? { value: [] };

  test.each<[string, (file: FileDescriptorProto) => void]>([
    ["as it is", () => undefined],
    [
      "older, without idempotency_level",
      (file) => {
        options(file).field = options(file).field.filter(
          ({ name }) => name !== "idempotency_level",
        );
        options(file).enumType = [];
      },
    ],
    [
      "without features, before editions",
      (file) => {
        options(file).field = options(file).field.filter(({ name }) => name !== "features");
      },
    ],
  ])("is accepted %s", (_, change) => {
    expectAccepted(ANNOTATIONS, HTTP, changed(DESCRIPTOR, change));
  });

  const SET =
    (value: object, index: number) =>
    (file: FileDescriptorProto): unknown =>
      void Object.assign(level(file).value[index] ?? {}, value);
  test.each<[string, (file: FileDescriptorProto) => void]>([
    [
      "IDEMPOTENCY_UNKNOWN = 1",
      (file) => {
        SET({ number: 1 }, 0)(file);
        SET({ number: 0 }, 1)(file);
      },
    ],
    ["NO_SIDE_EFFECTS by another name", SET({ name: "SAFE" }, 1)],
    ["IDEMPOTENT = 1, as an alias", SET({ number: 1 }, 2)],
    [
      "idempotency_level = 35",
      (file) => (fieldOf(file, "MethodOptions", "idempotency_level").number = 35),
    ],
    ["deprecated = 34", (file) => (fieldOf(file, "MethodOptions", "deprecated").number = 34)],
    [
      "idempotency_level of another enum",
      (file) =>
        (fieldOf(file, "MethodOptions", "idempotency_level").typeName =
          ".google.protobuf.FieldOptions.CType"),
    ],
    [
      "idempotency_level as an int32",
      (file) => (fieldOf(file, "MethodOptions", "idempotency_level").type = Type.INT32),
    ],
  ])("is rejected at every RPC with %s", (_, change) => {
    const { rpc, errors } = check([ANNOTATIONS, HTTP, changed(DESCRIPTOR, change)]);
    expect(errors.map((text) => text.split(":")[0])).toEqual([
      "ACCESS_ANNOTATION_GENUINE",
      "ACCESS_ANNOTATION_GENUINE",
    ]);
    expect(errors[0]).toContain("google.protobuf.MethodOptions: the input defines it differently");
    expect(rpc?.policy).toBeUndefined();
  });

  test("is rejected with an extension that has one of its numbers", () => {
    const other = changed(ANNOTATIONS, (file) => {
      Object.assign(file, { name: "x.proto", package: "x" });
      for (const one of file.extension) one.number = 34;
    });
    expect(check([ANNOTATIONS, HTTP, other]).errors).toHaveLength(2);
  });
});

test("a file of several inputs gets the problems of all of them", () => {
  const method = [methodOf("A", POLICY, GET)];
  const bytes = encodeFile({ name: "a.proto", package: "a.v1", service: [{ name: "S", method }] });
  const file = { bytes, target: true };
  const imported = (proto: FileDescriptorProto) => ({ bytes: encodeFile(proto), target: false });
  const genuine = [imported(ANNOTATIONS), imported(HTTP)];
  const withoutPolicy = [file, ...genuine];
  const withoutRule = [file, DEFINITION];
  const forged = changed(DESCRIPTOR, (copy) => {
    fieldOf(copy, "MethodOptions", "deprecated").number = 34;
  });
  const withOptions = [file, DEFINITION, ...genuine, imported(forged)];
  for (const other of [withoutPolicy, withOptions]) {
    for (const inputs of [
      [withoutRule, other],
      [other, withoutRule],
    ]) {
      const { api, locator } = readApi(inputs, undefined);
      const rules = checkApi(api, locator, undefined).diagnostics.map(({ rule }) => rule);
      expect(rules).toContain("ACCESS_HTTP_RULE_VALID");
      expect(rules).toContain("ACCESS_ANNOTATION_GENUINE");
    }
  }
});

test("the definitions for the comparison are the published ones", () => {
  const files = [HTTP, DESCRIPTOR];
  for (const [name, fields] of [...HTTP_OPTION.messages, ...METHOD_OPTIONS.messages]) {
    const owner = files
      .flatMap((file) =>
        file.messageType.map((type) => [`${file.package}.${type.name}`, type] as const),
      )
      .find(([fullName]) => fullName === name)?.[1];
    expect(fields.map((field) => [field.name, field.number])).toEqual(
      expect.arrayContaining(
        fields.map(({ name }) => {
          const genuine = owner?.field.find((field) => field.name === name);
          return [genuine?.name, genuine?.number];
        }),
      ),
    );
  }
});
