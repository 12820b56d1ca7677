/**
 * The definition that an option was compiled with gives its bytes their meaning. Any
 * definition other than ours is rejected, even with the smallest difference.
 */
import { clone, create } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  EnumValueDescriptorProtoSchema,
  type FieldDescriptorProto,
  FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileOptionsSchema,
  FieldDescriptorProto_Label as Label,
  MethodOptionsSchema,
  OneofDescriptorProtoSchema,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { EXPOSURES, POLICY_EXTENSION } from "../../../../src/api/policy.ts";
import { resolvePolicy } from "../../../../src/api/resolved-policy.ts";
import { readApi } from "../../../../src/compiler/read/read-api.ts";
import { file_svc_access_v1_policy } from "../../../../src/gen/proto/svc/access/v1/policy_pb.ts";
import { checkApi } from "../../../../src/rules/check-api.ts";
import { encode, encodeFile, methodOf } from "../../descriptors.ts";

const OURS = file_svc_access_v1_policy.proto;
test("the exposures have their numbers [ANNO-16]", () => {
  const [exposure] = OURS.enumType.filter(({ name }) => name === "Exposure");
  const numbers = exposure?.value.map(({ name, number }) => [number, name]);
  const expected = ["PUBLIC", "AUTHENTICATED", "AUTHORIZED", "INTERNAL", "SYSTEM"];
  expect(numbers).toEqual(expected.map((name, number) => [number, name]));
});

const PUBLIC = encode([1, EXPOSURES.indexOf("PUBLIC")], [4, encode([1, 1])]);

/** Reads and checks an RPC whose option was compiled with these definitions. */
function check(definitions: readonly FileDescriptorProto[], option = PUBLIC) {
  const method = { ...methodOf("Get", [POLICY_EXTENSION, option]) };
  const service = { name: "S", method: [method] };
  const inputs = [
    ...definitions.map((file) => ({ bytes: encodeFile(file), target: false })),
    { bytes: encodeFile({ name: "a.proto", package: "a.v1", service: [service] }), target: true },
  ];
  const { api, locator } = readApi([inputs], undefined);
  const rpc = api.services.find(({ name }) => name === "a.v1")?.services[0]?.rpcs[0];
  const { diagnostics } = checkApi(api, locator, undefined);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  return { rpc, errors: errors.map(({ rule, file, message }) => ({ rule, file, message })) };
}

function expectRefused(
  definitions: readonly FileDescriptorProto[],
  message: string,
  option = PUBLIC,
) {
  const { rpc, errors } = check(definitions, option);
  expect(errors).toEqual([
    {
      rule: "ACCESS_ANNOTATION_GENUINE",
      file: "a.proto",
      message: expect.stringContaining(message),
    },
  ]);
  expect(rpc?.policy).toBeUndefined();
  if (rpc !== undefined) expect(() => resolvePolicy(rpc)).toThrow("has no exposure");
}

function expectAccepted(definitions: readonly FileDescriptorProto[]) {
  const { rpc, errors } = check(definitions);
  expect(errors).toEqual([]);
  expect(rpc?.policy?.exposure).toBe("PUBLIC");
}

function changed(change: (file: FileDescriptorProto) => void): FileDescriptorProto {
  const file = clone(FileDescriptorProtoSchema, OURS);
  change(file);
  return file;
}

describe("the definition of this version is accepted [ANNO-1]", () => {
  test("as it is", () => expectAccepted([OURS]));

  test.each<[string, (file: FileDescriptorProto) => void]>([
    ["under another path", (file) => (file.name = "third_party/access.proto")],
    [
      "with other options of the file",
      (file) => {
        file.options = create(FileOptionsSchema, { goPackage: "x.com/x", javaPackage: "com.x" });
      },
    ],
    ["with its values in another order", (file) => file.messageType.reverse()],
    ["with its fields in another order", (file) => file.messageType[1]?.field.reverse()],
    [
      "without [deprecated = true]",
      (file) => {
        for (const { field } of file.messageType) for (const one of field) delete one.options;
      },
    ],
    [
      "beside a message that it does not reach",
      (file) => file.messageType.push({ ...message("Policy"), name: "Note" } as DescriptorProto),
    ],
  ])("%s", (_, change) => expectAccepted([changed(change)]));

  test("split into two files", () => {
    const enums = changed((file) => {
      file.name = "enums.proto";
      file.messageType = [];
      file.extension = [];
    });
    expectAccepted([changed((file) => (file.enumType = [])), enums]);
  });

  test("with an extension of the same number of another message", () => {
    const other = changed((file) => {
      file.name = "x.proto";
      file.package = "x";
      (file.extension[0] as FieldDescriptorProto).extendee = ".google.protobuf.FileOptions";
    });
    expectAccepted([OURS, other]);
  });
});

function message(name: string, file = OURS): DescriptorProto {
  return file.messageType.find((candidate) => candidate.name === name) as DescriptorProto;
}

interface Mutation {
  readonly name: string;
  readonly change: (file: FileDescriptorProto) => void;
}

/** Every number, name, type and label of a field, changed by one. */
function* fieldMutations(
  where: string,
  pick: (file: FileDescriptorProto) => FieldDescriptorProto,
): Iterable<Mutation> {
  const { name, number, type, label, proto3Optional } = pick(OURS);
  const at = `${where}.${name}`;
  const set = (what: string, value: Partial<FieldDescriptorProto>): Mutation => {
    return { name: `${at}: ${what}`, change: (file) => void Object.assign(pick(file), value) };
  };
  yield set("its name", { name: `${name}x` });
  yield set("its name in upper case", { name: name.toUpperCase() });
  yield set("the next number", { number: number + 1 });
  yield set("the number before", { number: number - 1 });
  for (const other of Object.values(Type).filter((value) => typeof value === "number")) {
    if (other !== type) yield set(`the type ${Type[other]}`, { type: other });
  }
  for (const other of [Label.OPTIONAL, Label.REPEATED, Label.REQUIRED]) {
    if (other !== label) yield set(`the label ${Label[other]}`, { label: other });
  }
  if (label !== Label.REPEATED) yield set("its presence", { proto3Optional: !proto3Optional });
}

function* messageMutations({ name: owner, field }: DescriptorProto): Iterable<Mutation> {
  for (const [index, { name, typeName }] of field.entries()) {
    const pick = (file: FileDescriptorProto) =>
      message(owner, file).field[index] as FieldDescriptorProto;
    yield* fieldMutations(owner, pick);
    yield {
      name: `${owner}.${name}: removed`,
      change: (file) => void message(owner, file).field.splice(index, 1),
    };
    yield {
      name: `${owner}.${name}: in a oneof`,
      change: (file) => {
        message(owner, file).oneofDecl.unshift(create(OneofDescriptorProtoSchema, { name: "any" }));
        Object.assign(pick(file), { oneofIndex: 0, proto3Optional: false });
      },
    };
    const types = [...OURS.messageType, ...OURS.enumType].map(
      (type) => `.svc.access.v1.${type.name}`,
    );
    for (const other of typeName === "" ? [] : types) {
      if (other === typeName) continue;
      yield { name: `${owner}.${name}: ${other}`, change: (file) => (pick(file).typeName = other) };
    }
  }
  yield {
    name: `${owner}: a further field`,
    change: (file) => {
      const added = { name: "further", number: 99, type: Type.BOOL, label: Label.OPTIONAL };
      message(owner, file).field.push(create(FieldDescriptorProtoSchema, added));
    },
  };
  yield { name: `${owner}: its name`, change: (file) => (message(owner, file).name += "x") };
  yield {
    name: `${owner}: twice`,
    change: (file) => file.messageType.push(message(owner, file)),
  };
  yield {
    name: `${owner}: removed`,
    change: (file) => (file.messageType = file.messageType.filter((other) => other.name !== owner)),
  };
}

function* enumMutations({ name: owner, value: values }: EnumDescriptorProto): Iterable<Mutation> {
  const pick = (file: FileDescriptorProto) =>
    file.enumType.find(({ name }) => name === owner) as EnumDescriptorProto;
  for (const [index, { name, number }] of values.entries()) {
    const set = (what: string, value: object): Mutation => {
      const change = (file: FileDescriptorProto) =>
        void Object.assign(pick(file).value[index] ?? {}, value);
      return { name: `${owner}.${name}: ${what}`, change };
    };
    yield set("its name", { name: `${name}_X` });
    yield set("the next number", { number: number + 1 });
    yield set("the number before", { number: number - 1 });
    yield {
      name: `${owner}.${name}: removed`,
      change: (file) => void pick(file).value.splice(index, 1),
    };
    for (const [other, { number: otherNumber }] of values.entries()) {
      if (other <= index) continue;
      yield {
        name: `${owner}.${name}: swapped with ${values[other]?.name}`,
        change: (file) => {
          Object.assign(pick(file).value[index] ?? {}, { number: otherNumber });
          Object.assign(pick(file).value[other] ?? {}, { number });
        },
      };
    }
  }
  yield {
    name: `${owner}: a further value`,
    change: (file) =>
      pick(file).value.push(create(EnumValueDescriptorProtoSchema, { name: "ROOT", number: 99 })),
  };
  yield {
    name: `${owner}: an alias`,
    change: (file) =>
      pick(file).value.push(create(EnumValueDescriptorProtoSchema, { name: "ALIAS", number: 0 })),
  };
  yield { name: `${owner}: its name`, change: (file) => (pick(file).name += "x") };
  yield {
    name: `${owner}: removed`,
    change: (file) => (file.enumType = file.enumType.filter(({ name }) => name !== owner)),
  };
}

const MUTATIONS: readonly Mutation[] = [
  ...OURS.messageType.flatMap((type) => [...messageMutations(type)]),
  ...OURS.enumType.flatMap((type) => [...enumMutations(type)]),
  ...fieldMutations("extension", (file) => file.extension[0] as FieldDescriptorProto),
  {
    name: "the package",
    change: (file) => (file.package = "svc.access.v2"),
  },
  { name: "proto2", change: (file) => (file.syntax = "proto2") },
  { name: "no syntax, which is proto2", change: (file) => (file.syntax = "") },
  { name: "an edition", change: (file) => (file.syntax = "editions") },
  {
    name: "another extendee",
    change: (file) =>
      ((file.extension[0] as FieldDescriptorProto).extendee = ".google.protobuf.FieldOptions"),
  },
];

describe("a definition with one change is rejected [ANNO-1]", () => {
  test.each(MUTATIONS)("$name", ({ change }) => {
    const file = changed(change);
    const { rpc, errors } = check([file]);
    expect(errors.map(({ rule }) => rule)).toEqual(["ACCESS_ANNOTATION_GENUINE"]);
    expect(rpc?.policy).toBeUndefined();
  });

  test("the mutations reach each field and each value", () => {
    const fields = OURS.messageType.flatMap(({ field }) => field);
    const values = OURS.enumType.flatMap(({ value }) => value);
    expect(MUTATIONS.length).toBeGreaterThan(20 * fields.length + 4 * values.length);
  });
});

describe("anything else in place of the definition is rejected at the RPC", () => {
  const swapped = changed((file) => {
    const [exposure] = file.enumType;
    for (const value of exposure?.value ?? []) {
      if (value.name === "PUBLIC") value.number = 2;
      else if (value.name === "AUTHORIZED") value.number = 0;
    }
  });

  test("the first differences are named, and the fix", () => {
    expectRefused(
      [swapped],
      "the access policy of Get is not read: svc.access.v1.policy in svc/access/v1/policy.proto differs from that of svc-access: svc.access.v1.Exposure.PUBLIC is 2 instead of 0, svc.access.v1.Exposure.AUTHORIZED is 0 instead of 2; run npx svc-access init --update, or replace the file",
    );
  });

  test("no definition, as in an image without imports", () => {
    expectRefused([], "build the input with its imports");
  });

  test("ours and a forged one", () => {
    expectRefused([OURS, { ...swapped, name: "forged.proto" }], "forged.proto");
    expectRefused([{ ...swapped, name: "a_forged.proto" }, OURS], "a_forged.proto");
  });

  test("ours twice, which no compiler links", () => {
    expectRefused([OURS, { ...OURS, name: "again.proto" }], "is declared more than once");
  });

  test("another extension with the number", () => {
    const acme = changed((file) => Object.assign(file, { name: "acme.proto", package: "acme" }));
    expectRefused([acme], "the option 50810 is acme.policy of acme.proto");
    expectRefused([OURS, acme], "the option 50810 is acme.policy of acme.proto");
  });

  test("another extension with the number, inside a message", () => {
    const nested = changed((file) => {
      Object.assign(file, { name: "acme.proto", package: "acme" });
      const inner = { ...message("Gateway", file), extension: file.extension };
      file.messageType = [{ ...message("Policy", file), name: "Outer", nestedType: [inner] }];
      file.extension = [];
    });
    expectRefused([nested], "the option 50810 is acme.Outer.Gateway.policy of acme.proto");
    expectRefused([OURS, nested], "the option 50810 is acme.Outer.Gateway.policy of acme.proto");
  });

  test("an option that is not a message", () => {
    const number = changed((file) => {
      Object.assign(file, { package: "acme" });
      Object.assign(file.extension[0] ?? {}, { type: Type.INT32, typeName: "" });
    });
    const method = methodOf("Get");
    const options = create(MethodOptionsSchema, {});
    options.$unknown = [{ no: POLICY_EXTENSION, wireType: 0, data: Uint8Array.of(1) }];
    const withVarint = { ...method, options };
    const service = { name: "S", method: [withVarint] };
    const own = encodeFile({ name: "a.proto", package: "a.v1", service: [service] });
    for (const definition of [number, OURS]) {
      const files = [
        { bytes: encodeFile(definition), target: false },
        { bytes: own, target: true },
      ];
      const { api, locator } = readApi([files], undefined);
      const { diagnostics } = checkApi(api, locator, undefined);
      expect(diagnostics.map(({ rule }) => rule)).toEqual(["ACCESS_ANNOTATION_GENUINE"]);
    }
  });

  test("only the RPCs of the input that holds the forged one", () => {
    const input = (name: string, definition: FileDescriptorProto) => {
      const service = { name: "S", method: [methodOf("Get", [POLICY_EXTENSION, PUBLIC])] };
      return [
        { bytes: encodeFile(definition), target: false },
        {
          bytes: encodeFile({ name: `${name}.proto`, package: name, service: [service] }),
          target: true,
        },
      ];
    };
    const errorsOf = (...inputs: ReturnType<typeof input>[]) => {
      const { api, locator } = readApi(inputs, undefined);
      const { diagnostics } = checkApi(api, locator, undefined);
      return diagnostics.filter(({ severity }) => severity === "error").map(({ file }) => file);
    };
    const good = input("good", OURS);
    const bad = input("bad", swapped);
    expect(errorsOf(good, bad)).toEqual(["bad.proto"]);
    expect(errorsOf(bad, good)).toEqual(["bad.proto"]);
    expect(errorsOf(input("same", OURS), input("same", swapped))).toEqual(["same.proto"]);
  });
});

describe("a field that this version does not know is rejected at the RPC", () => {
  test.each<[string, Uint8Array, string]>([
    ["of the policy", encode([1, 0], [9, 1]), "the field 9 of svc.access.v1.Policy"],
    ["of authz", encode([1, 0], [2, encode([9, "x"])]), "the field 9 of svc.access.v1.Authz"],
    ["of audit", encode([1, 0], [3, encode([19, 1])]), "the field 19 of svc.access.v1.Audit"],
    ["of rate_limit", encode([4, encode([9, 1])]), "the field 9 of svc.access.v1.RateLimit"],
    ["of gateway", encode([5, encode([9, 1])]), "the field 9 of svc.access.v1.Gateway"],
    ["in another encoding", encode([1, "x"]), "the field 1 of svc.access.v1.Policy, as it is"],
    ["that is not a message", encode([2, 1]), "the field 2 of svc.access.v1.Policy, as it is"],
  ])("%s", (_, option, what) => expectRefused([OURS], `does not know ${what}`, option));
});
