/** The owner's forgotten image: a client's image has a copy of its protos. */
import { create, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import type { Input } from "../../../src/cli/input/inputs.ts";
import { soleImageNotes } from "../../../src/cli/input/sole-images.ts";
import type { CheckedApi } from "../../../src/compiler/read-and-check.ts";

/** An input with files; one with * is only imported. */
function inputOf(from: string, ...names: readonly string[]): Input {
  const files = names.map((name) => ({
    bytes: toBinary(
      FileDescriptorProtoSchema,
      create(FileDescriptorProtoSchema, { name: name.replace("*", "") }),
    ),
    target: !name.endsWith("*"),
    input: from,
  }));
  return from.endsWith(".binpb") ? { files } : { files, folder: from };
}

const checkedOf = (configured = true) => {
  const services = ["ledger", "mail", "rates"].map((name) => ({
    name,
    configured,
    services: [{ file: `${name}.proto` }],
  }));
  return { api: { services } } as unknown as CheckedApi;
};
const MAIL = inputOf("mail.binpb", "mail.proto");
const LEDGER = inputOf("ledger.binpb", "ledger.proto", "rates.proto");
const RATES = inputOf("rates.binpb", "rates.proto");

test("an image that alone has the protos of two services is noted, with both and the fix", () => {
  expect(soleImageNotes([LEDGER, MAIL], checkedOf())).toEqual([
    "ledger.binpb is the only input with the protos of the services ledger, rates; if one of them has an image of its own, add it: otherwise its policies are those of a copy, which may be old",
  ]);
});

test.each<[what: string, inputs: Input[], checked: CheckedApi]>([
  ["the image of the owner is there", [LEDGER, MAIL, RATES], checkedOf()],
  [
    "the copy is only imported, which is an error of its own",
    [inputOf("ledger.binpb", "ledger.proto", "rates.proto*"), MAIL],
    checkedOf(),
  ],
  ["one input is the whole platform", [LEDGER], checkedOf()],
  [
    "a folder has its own protos",
    [inputOf("ledger", "ledger.proto", "rates.proto"), MAIL],
    checkedOf(),
  ],
  ["nothing is configured", [LEDGER, MAIL], checkedOf(false)],
])("nothing is noted if %s", (_what, inputs, checked) => {
  expect(soleImageNotes(inputs, checked)).toEqual([]);
});
