import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { requestField } from "../../../src/runtime/resource/request-field.ts";
import { messageOf } from "../authorization/messages.ts";

describe("a path that can never be read is refused [ANNO-6]", () => {
  test.each([
    ["nothing", '"nothing" is not a field of a.v1.Request'],
    ["optionalId", '"optionalId" is not a field'],
    ["__proto__", '"__proto__" is not a field'],
    ["inner.nothing", '"nothing" is not a field of a.v1.Inner'],
    ["id.more", '"id" is not a singular message'],
    ["ids", "is a list"],
    ["names", "is a map"],
    ["inner", "is a message"],
    ["raw", "is a bytes"],
    ["real", "is a double"],
    ["small", "is a float"],
    ["flag", "is a bool"],
    ["wrapped", "is a message"],
    ["target", '"target" is not a field'],
    ["names.value", '"names" is not a singular message'],
  ])("%s", (path, message) => {
    expect(() => requestField(messageOf("a.v1.Request"), path)).toThrow(message);
  });
});

type Init = MessageInitShape<ReturnType<typeof messageOf>>;

const REQUEST = "a.v1.Request";
const PROTO2 = "b.v1.Request";
const MAX_INT64 = 9_223_372_036_854_775_807n;

test.each<[string, string, object, string | undefined]>([
  [REQUEST, "id", {}, undefined],
  [REQUEST, "id", { id: "" }, undefined],
  [REQUEST, "id", { id: "0" }, "0"],
  [REQUEST, "id", { id: "s1" }, "s1"],
  [REQUEST, "optional_id", {}, undefined],
  [REQUEST, "optional_id", { optionalId: "" }, undefined],
  [REQUEST, "optional_id", { optionalId: "s1" }, "s1"],
  [REQUEST, "number", {}, undefined],
  [REQUEST, "number", { number: 0 }, undefined],
  [REQUEST, "number", { number: -5 }, "-5"],
  [REQUEST, "optional_number", {}, undefined],
  [REQUEST, "optional_number", { optionalNumber: 0 }, "0"],
  [REQUEST, "big", { big: 0n }, undefined],
  [REQUEST, "big", { big: MAX_INT64 }, "9223372036854775807"],
  [REQUEST, "huge", { huge: 2n ** 64n - 1n }, "18446744073709551615"],
  [REQUEST, "unsigned", {}, undefined],
  [REQUEST, "unsigned", { unsigned: 4_294_967_295 }, "4294967295"],
  [REQUEST, "zigzag", {}, undefined],
  [REQUEST, "zigzag", { zigzag: -1 }, "-1"],
  [REQUEST, "long_zigzag", {}, undefined],
  [REQUEST, "long_zigzag", { longZigzag: -1n }, "-1"],
  [REQUEST, "fixed", { fixed: 1 }, "1"],
  [REQUEST, "long_fixed", { longFixed: 2n ** 64n - 1n }, "18446744073709551615"],
  [REQUEST, "signed_fixed", { signedFixed: -1 }, "-1"],
  [REQUEST, "long_signed_fixed", { longSignedFixed: -1n }, "-1"],
  [REQUEST, "text_big", {}, undefined],
  [REQUEST, "text_big", { textBig: "-12" }, "-12"],
  [REQUEST, "text_big", { textBig: "12" }, "12"],
  [REQUEST, "text_big", { textBig: "7" }, "7"],
  [REQUEST, "kind", { kind: 0 }, undefined],
  [REQUEST, "kind", { kind: 1 }, "BOOK"],
  [REQUEST, "optional_kind", {}, undefined],
  [REQUEST, "optional_kind", { optionalKind: 0 }, "KIND_UNSPECIFIED"],
  [REQUEST, "inner.id", {}, undefined],
  [REQUEST, "inner.id", { inner: {} }, undefined],
  [REQUEST, "inner.id", { inner: { id: "i" } }, "i"],
  [REQUEST, "inner.inner.big", { inner: { inner: { big: 3n } } }, "3"],
  [REQUEST, "inner.inner.big", { inner: {} }, undefined],
  [REQUEST, "project", {}, undefined],
  [REQUEST, "project", { target: { case: "task", value: 3 } }, undefined],
  [REQUEST, "project", { target: { case: "project", value: "" } }, undefined],
  [REQUEST, "project", { target: { case: "project", value: "p" } }, "p"],
  [REQUEST, "task", { target: { case: "task", value: 0 } }, "0"],
  [REQUEST, "sort", { target: { case: "sort", value: 1 } }, "BOOK"],
  [REQUEST, "nested.id", { target: { case: "nested", value: { id: "n" } } }, "n"],
  [REQUEST, "nested.id", { target: { case: "project", value: "p" } }, undefined],
  [REQUEST, "boxed.value", { target: { case: "boxed", value: { value: "b" } } }, "b"],
  [REQUEST, "wrapped.value", {}, undefined],
  [REQUEST, "wrapped.value", { wrapped: "w" }, "w"],
  [REQUEST, "wrapped_number.value", { wrappedNumber: 12n }, "12"],
  [REQUEST, "constructor", {}, undefined],
  [REQUEST, "constructor", { constructor$: "c" }, "c"],
  [PROTO2, "id", { name: "n" }, undefined],
  [PROTO2, "id", { name: "n", id: "other" }, "other"],
  [PROTO2, "number", { name: "n" }, undefined],
  [PROTO2, "number", { name: "n", number: 0 }, "0"],
  [PROTO2, "kind", { name: "n" }, undefined],
  [PROTO2, "kind", { name: "n", kind: 2 }, "PAGE"],
  [PROTO2, "name", { name: "n" }, "n"],
])("%s %s of %o", (message, path, init, expected) => {
  const schema = messageOf(message);
  const request = create(schema, init as Init);
  const read = requestField(schema, path);
  expect(read(request)).toBe(expected);
  // The same from the wire.
  expect(read(fromBinary(schema, toBinary(schema, request)))).toBe(expected);
});

test.each(["01", "-0", "+1", "1e3", " 1", "1.0", "0x1", ""])(
  "a number that is %j in JSON is INVALID_ARGUMENT",
  (textBig) => {
    const schema = messageOf(REQUEST);
    const request = create(schema, { textBig } as Init);
    expect(() => requestField(schema, "text_big")(request)).toThrow(
      expect.objectContaining({
        code: "INVALID_ARGUMENT",
        message: "the field text_big must be a number without leading zeros",
      }),
    );
  },
);

test("an enum number without a name is INVALID_ARGUMENT", () => {
  const schema = messageOf(REQUEST);
  const request = create(schema, { kind: 99 } as Init);
  expect(() => requestField(schema, "kind")(request)).toThrow(
    expect.objectContaining({
      code: "INVALID_ARGUMENT",
      message: "the field kind has the number 99, which a.v1.Kind does not define",
    }),
  );
});
