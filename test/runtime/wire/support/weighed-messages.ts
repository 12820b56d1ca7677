import { create, type DescMessage, fromJson, toBinary } from "@bufbuild/protobuf";
import {
  anyPack,
  DescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FileOptionsSchema,
  ListValueSchema,
  ValueSchema,
} from "@bufbuild/protobuf/wkt";
import { registryOf } from "../../../../src/runtime/json/json-text.ts";
import { columnsOf } from "../../../support/effort.ts";
import {
  AllSchema,
  BodiesSchema,
  FlatSchema,
} from "../../http/unusual-protos/gen/unusual/kinds/v1/kinds_pb.ts";

/** A message in one encoding. */
export interface WeighedMessage {
  readonly name: string;
  readonly type: DescMessage;
  /** A text is JSON. */
  readonly data: string | Uint8Array;
  /** Whether services have such, so that the weight may not be much too large either. */
  readonly isUsual: boolean;
}

/** What an Any may hold. */
export const registry = registryOf([AllSchema.file, FileDescriptorProtoSchema.file]);

/** So many pieces of JSON in a row. */
const row = (count: number, piece: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => piece(index)).join(",");
const list = (count: number, piece: (index: number) => string): string => `[${row(count, piece)}]`;
const text = (index: number): string => `"value ${index} of the list"`;

/** Messages as JSON, each weighed in both encodings. */
const AS_JSON: readonly [string, DescMessage, string, "usual"?][] = [
  ["a text", FlatSchema, `{"text":"${"a".repeat(100_000)}"}`, "usual"],
  ["a text of two bytes a character", FlatSchema, `{"text":"${"\u20ac".repeat(50_000)}"}`, "usual"],
  [
    "a long text with one such character",
    FlatSchema,
    `{"text":"${"a".repeat(100_000)}\u20ac"}`,
    "usual",
  ],
  ["the same, escaped", FlatSchema, `{"text":"${"a".repeat(100_000)}\\u20ac"}`],
  [
    "texts of latin letters",
    FlatSchema,
    `{"texts":${list(200, () => `"${"\u00e9".repeat(200)}"`)}}`,
  ],
  ["bytes", FlatSchema, `{"data":"${"AAAA".repeat(30_000)}"}`, "usual"],
  [
    "a few fields",
    BodiesSchema,
    `{"text":"some name","big":"7","time":"2026-01-01T00:00:00Z"}`,
    "usual",
  ],
  ["texts in a list", FlatSchema, `{"texts":${list(2_000, text)}}`, "usual"],
  ["short texts", FlatSchema, `{"texts":${list(5_000, (index) => `"${index}"`)}}`, "usual"],
  ["empty texts", FlatSchema, `{"texts":${list(5_000, () => '""')}}`],
  ["many bytes", FlatSchema, `{"datas":${list(5_000, () => '"AAAA"')}}`],
  ["empty bytes", FlatSchema, `{"datas":${list(5_000, () => '""')}}`],
  ["small numbers", FlatSchema, `{"smalls":${list(20_000, () => "1")}}`, "usual"],
  ["numbers", FlatSchema, `{"reals":${list(20_000, (index) => `${index}.25`)}}`, "usual"],
  ["large integers", FlatSchema, `{"huges":${list(20_000, (index) => `"9${index}"`)}}`, "usual"],
  ["truths", FlatSchema, `{"truths":${list(20_000, () => "true")}}`, "usual"],
  ["times", FlatSchema, `{"times":${list(5_000, () => '"2026-01-01T00:00:00Z"')}}`, "usual"],
  ["spans", FlatSchema, `{"spans":${list(5_000, () => '"1s"')}}`],
  ["wrapped texts", FlatSchema, `{"wrappedTexts":${list(5_000, () => '"a"')}}`],
  ["wrapped numbers", FlatSchema, `{"wrappedReals":${list(5_000, () => "0.5")}}`],
  ["a field mask", FlatSchema, `{"mask":"${row(5_000, () => "aB")}"}`],
  ["field masks", AllSchema, `{"masks":${list(5_000, () => '"a"')}}`],
  ["wide messages", BodiesSchema, `{"parts":${list(2_000, () => "{}")}}`],
  [
    "wide messages with some values",
    BodiesSchema,
    `{"parts":${list(1_000, (index) => `{"text":"name ${index}","small":${index},"maybeText":"some","texts":["one","two"]}`)}}`,
    "usual",
  ],
  ["messages with lists", AllSchema, `{"alls":${list(2_000, () => '{"alls":[{}]}')}}`],
  ["empty messages", FileDescriptorProtoSchema, `{"messageType":${list(19_000, () => "{}")}}`],
  [
    "lists of one item",
    DescriptorProtoSchema,
    `{"nestedType":${list(3_000, () => '{"reservedName":["a"]}')}}`,
  ],
  [
    "a map of texts",
    AllSchema,
    `{"texts":{${row(5_000, (index) => `"key ${index}":"value ${index}"`)}}}`,
    "usual",
  ],
  ["a map of empty texts", AllSchema, `{"texts":{${row(5_000, (index) => `"k${index}":""`)}}}`],
  ["a map of bytes by numbers", AllSchema, `{"datas":{${row(3_000, (index) => `"${index}":""`)}}}`],
  [
    "a map by numbers far apart",
    AllSchema,
    `{"shades":{${row(5_000, (index) => `"${index * 7919}":0`)}}}`,
  ],
  ["a map of wide messages", AllSchema, `{"flats":{${row(1_000, (index) => `"k${index}":{}`)}}}`],
  [
    "a map of times",
    AllSchema,
    `{"times":{${row(2_000, (index) => `"k${index}":"2026-01-01T00:00:00Z"`)}}}`,
    "usual",
  ],
  ["maps of one entry", AllSchema, `{"alls":${list(2_000, () => '{"texts":{"k":""}}')}}`],
  [
    "maps with one number for a key",
    AllSchema,
    `{"alls":${list(1_000, () => '{"texts":{"1000":""}}')}}`,
  ],
  [
    "maps with numbers for keys",
    AllSchema,
    `{"alls":${list(300, () => '{"datas":{"1000":"","2500":"","3300":""}}')}}`,
  ],
  ["values of a map", AllSchema, `{"values":{${row(3_000, (index) => `"k${index}":${index}`)}}}`],
  ["an object", AllSchema, `{"object":{${row(3_000, (index) => `"k${index}":"value ${index}"`)}}}`],
  ["objects", AllSchema, `{"objects":${list(3_000, () => '{"a":{"b":1}}')}}`],
  ["empty objects", AllSchema, `{"objects":${list(5_000, () => "{}")}}`],
  ["objects in a value", AllSchema, `{"anything":${list(3_000, () => '{"a":{"b":1}}')}}`],
  ["empty objects in a value", AllSchema, `{"anything":${list(5_000, () => "{}")}}`],
  ["empty lists in a value", AllSchema, `{"anything":${list(5_000, () => "[]")}}`],
  ["lists of one in a value", AllSchema, `{"anything":${list(5_000, () => "[0]")}}`],
  ["numbers in a value", AllSchema, `{"anything":${list(5_000, () => "0.5")}}`],
  ["values", AllSchema, `{"anythings":${list(5_000, () => "null")}}`],
  ["a list of texts", ListValueSchema, list(5_000, () => '""')],
  ["a value", ValueSchema, `{${row(3_000, (index) => `"k${index}":""`)}}`],
  ["a number by itself", ValueSchema, "1"],
  ["anys", AllSchema, `{"anys":${list(3_000, () => '{"@type":"x/google.protobuf.Empty"}')}}`],
  [
    "anys of numbers",
    AllSchema,
    `{"any":{"@type":"x/unusual.kinds.v1.Flat","reals":${list(5_000, () => "1")}}}`,
  ],
  [
    "options that are all given",
    FileOptionsSchema,
    `{"javaPackage":"a","javaOuterClassname":"b","javaMultipleFiles":true,"javaGenerateEqualsAndHash":true,"javaStringCheckUtf8":true,"optimizeFor":"SPEED","goPackage":"g","ccGenericServices":true,"javaGenericServices":true,"pyGenericServices":true,"deprecated":true,"ccEnableArenas":true,"objcClassPrefix":"o","csharpNamespace":"c","swiftPrefix":"s","phpClassPrefix":"p","phpNamespace":"n","phpMetadataNamespace":"m","rubyPackage":"r"}`,
  ],
];

/** Messages that only the binary encoding has so. */
const BINARY: readonly [string, DescMessage, Uint8Array][] = [
  ["empty messages in two bytes", FileDescriptorProtoSchema, repeated([0x22, 0], 19_000)],
  ["a few empty messages in two bytes", FileDescriptorProtoSchema, repeated([0x22, 0], 15)],
  ["some empty messages in two bytes", FileDescriptorProtoSchema, repeated([0x22, 0], 500)],
  ["truths in bytes", FlatSchema, packed(35, repeated([1], 50_000))],
  ["large integers in bytes", FlatSchema, packed(32, repeated([1], 30_000))],
  ["small numbers one by one", FlatSchema, repeated([0xf8, 0x01, 1], 20_000)],
  ["maps without key and value", AllSchema, repeated([0x42, 0], 1)],
  ["what nobody knows", FileOptionsSchema, repeated([0x98, 0x3f, 1], 10_000)],
  [
    "anys with bytes",
    AllSchema,
    toBinary(
      AllSchema,
      create(AllSchema, {
        anys: Array.from({ length: 2_000 }, () =>
          anyPack(FlatSchema, create(FlatSchema, { text: "some text" })),
        ),
      }),
    ),
  ],
];

function repeated(bytes: readonly number[], times: number): Uint8Array {
  return Uint8Array.from(
    { length: bytes.length * times },
    (_, index) => bytes[index % bytes.length] as number,
  );
}

function packed(field: number, values: Uint8Array): Uint8Array {
  const varint = (value: number): number[] =>
    value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
  return Uint8Array.from([...varint(field * 8 + 2), ...varint(values.length), ...values]);
}

const ALL: readonly WeighedMessage[] = [
  ...AS_JSON.flatMap(([name, type, json, usual]) => {
    const isUsual = usual !== undefined;
    const binary = toBinary(type, fromJson(type, JSON.parse(json), { registry }));
    return [
      { name: `JSON: ${name}`, type, data: json, isUsual },
      { name: `binary: ${name}`, type, data: binary, isUsual },
    ];
  }),
  ...BINARY.map(([name, type, data]) => ({ name: `binary: ${name}`, type, data, isUsual: false })),
];

/** In CI all of them, else one of seven, in one encoding or the other. */
export const WEIGHED = columnsOf(ALL, 0, 7);
