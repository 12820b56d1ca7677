/** The names that we compute once per file are those that protoplugin computes for each symbol. */
import { create } from "@bufbuild/protobuf";
import {
  CodeGeneratorRequestSchema,
  type DescriptorProto,
  DescriptorProtoSchema,
  EnumDescriptorProtoSchema,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { createEcmaScriptPlugin } from "@bufbuild/protoplugin";
import fc from "fast-check";
import { expect, test } from "vitest";
import { GeneratedNames } from "../../../src/emit/server/generated-names.ts";

/** Few names, so that they clash; some are reserved, some end in suffixes of others. */
const NAMES = [
  "Foo",
  "FooSchema",
  "Foo_Bar",
  "Bar",
  "BarSchema",
  "Object",
  "string",
  "interface",
  "Schema",
];

interface Tree {
  readonly name: string;
  readonly isEnum: boolean;
  readonly nested: readonly Tree[];
}

const trees = fc.letrec<{ tree: Tree; siblings: Tree[] }>((tie) => ({
  tree: fc.record({
    name: fc.constantFrom(...NAMES),
    isEnum: fc.boolean(),
    nested: fc.oneof({ maxDepth: 2 }, fc.constant<Tree[]>([]), tie("siblings")),
  }),
  siblings: fc.uniqueArray(tie("tree"), { selector: ({ name }) => name, maxLength: 5 }),
})).siblings;

test("types and services are named as protoplugin names them, clashes included", () => {
  fc.assert(
    fc.property(
      trees,
      fc.constantFrom("", "acme.v1"),
      fc.boolean(),
      (siblings, packageName, wkt) => {
        const file = wkt ? "google/protobuf/empty.proto" : "acme/v1/things.proto";
        const names = compare(siblings, packageName, file);
        for (const [ours, theirs] of names) expect(ours).toEqual(theirs);
      },
    ),
    { numRuns: 500 },
  );
});

function compare(siblings: readonly Tree[], packageName: string, name: string): [object, object][] {
  const pairs: [object, object][] = [];
  const plugin = createEcmaScriptPlugin({
    name: "test",
    version: "1",
    generateTs(schema) {
      const [descriptor] = schema.allFiles;
      if (descriptor === undefined) throw new Error("no file");
      const target = schema.generateFile("test.ts");
      const generated = new GeneratedNames(schema.files);
      const visit = (message: (typeof descriptor.messages)[number]) => {
        pairs.push([plain(generated.shape(target, message)), plain(target.importShape(message))]);
        pairs.push([
          plain(generated.schema(target, message)),
          plain(target.importSchema(message, true)),
        ]);
        message.nestedMessages.forEach(visit);
      };
      descriptor.messages.forEach(visit);
      for (const service of descriptor.services) {
        pairs.push([
          plain(generated.service(target, service)),
          plain(target.importSchema(service)),
        ]);
      }
    },
  });
  plugin.run(
    create(CodeGeneratorRequestSchema, {
      parameter: "target=ts",
      // A file that is not generated is imported from its package.
      fileToGenerate: name.startsWith("google/") ? [] : [name],
      protoFile: [
        create(FileDescriptorProtoSchema, {
          name,
          package: packageName,
          syntax: "proto3",
          messageType: siblings.filter(({ isEnum }) => !isEnum).map(message),
          enumType: siblings.filter(({ isEnum }) => isEnum).map(enumOf),
          service: [{ name: "Foo_Service" }, { name: "Other" }],
        }),
      ],
    }),
  );
  return pairs;
}

function plain({
  name,
  from,
  typeOnly,
}: {
  name: string;
  from: string;
  typeOnly: boolean;
}): object {
  return { name, from, typeOnly };
}

function message({ name, nested }: Tree): DescriptorProto {
  return create(DescriptorProtoSchema, {
    name,
    nestedType: nested.filter(({ isEnum }) => !isEnum).map(message),
    enumType: nested.filter(({ isEnum }) => isEnum).map(enumOf),
  });
}

function enumOf({ name }: Tree) {
  return create(EnumDescriptorProtoSchema, { name, value: [{ name: `${name}_ZERO`, number: 0 }] });
}
