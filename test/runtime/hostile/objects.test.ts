/** Requests that try to have one object checked and another one handled. */
import { create, createRegistry, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AccessResource, AccessResourcePart } from "../../../src/api/format.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { compileRequest } from "../../../src/runtime/http/transcoding/request-decoder.ts";
import { requestField } from "../../../src/runtime/resource/request-field.ts";
import { type ResourceId, resourceId } from "../../../src/runtime/resource/resource-id.ts";
import { principalOf } from "../authorization/calls.ts";
import { messageOf } from "../authorization/messages.ts";

const REQUEST = messageOf("a.v1.Request");
const field = (path: string): AccessResourcePart => ({ kind: "field", path });
const literal = (text: string): AccessResourcePart => ({ kind: "literal", text });
const resource = (...id: AccessResourcePart[]): AccessResource => ({ type: "doc", id });

/** The id of a request with two fields; undefined if it is refused. */
function idOf(render: ResourceId, id: string, optionalId: string): string | undefined {
  try {
    return render(create(REQUEST, { id, optionalId } as never), principalOf());
  } catch (error) {
    if (error instanceof ServiceError && error.code === "INVALID_ARGUMENT") return undefined;
    throw error;
  }
}

describe("an object id of two fields", () => {
  const SEPARATORS = ["/", "::", "--", "aba", "aa", "-x-x-", "|", "ab"];

  test.each(SEPARATORS)("belongs to one pair only, separated by %s", (separator) => {
    const render = resourceId(
      resource(literal("p"), field("id"), literal(separator), field("optional_id"), literal("s")),
      REQUEST,
    ) as ResourceId;
    const text = fc
      .array(fc.constantFrom("a", "b", "x", "-", ":", "/", "|", separator), {
        minLength: 1,
        maxLength: 5,
      })
      .map((pieces) => pieces.join(""));
    const seen = new Map<string, string>();
    fc.assert(
      fc.property(text, text, (one, other) => {
        const id = idOf(render, one, other);
        if (id === undefined) return;
        const pair = JSON.stringify([one, other]);
        expect(seen.get(id) ?? pair).toBe(pair);
        seen.set(id, pair);
      }),
      { numRuns: 4_000, seed: 1 },
    );
    expect(seen.size).toBeGreaterThan(20);
  });

  test("cannot move its separator by a part of the separator", () => {
    const render = resourceId(
      resource(field("id"), literal("::"), field("optional_id")),
      REQUEST,
    ) as ResourceId;
    expect(idOf(render, "x", ":y")).toBe("x:::y");
    expect(idOf(render, "x:", "y")).toBeUndefined();
    expect(idOf(render, "x", "y::z")).toBe("x::y::z");
    expect(idOf(render, "x::y", "z")).toBeUndefined();
  });

  test("must have a separator", () => {
    for (const next of [
      field("optional_id"),
      { kind: "principal", field: "subject_id" } as const,
    ]) {
      expect(() => resourceId(resource(field("id"), next), REQUEST)).toThrow(
        "two placeholders of its resource are adjacent",
      );
    }
  });
});

const REFUSED = Symbol("refused");

function orRefused<Result>(work: () => Result): Result | typeof REFUSED {
  try {
    return work();
  } catch (error) {
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
    return REFUSED;
  }
}

describe("a number or an enum in an object id [ANNO-6]", () => {
  const decode = compileRequest(
    { rpc: "", method: "POST", path: "/v1/x", segments: ["v1", "x"], variables: [], body: "*" },
    REQUEST,
    createRegistry(REQUEST),
    { maxElements: 1_000 },
  );
  const read = async (json: string): Promise<Message | undefined> => {
    const headers = {
      all: (name: string) => (name === "content-type" ? ["application/json"] : []),
      names: () => [],
    };
    const parts = {
      segments: ["v1", "x"],
      query: "",
      headers,
      hasBody: true,
      readBody: async () => Buffer.from(json),
      memory: { take: () => undefined },
    };
    try {
      return await decode(parts);
    } catch (error) {
      expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
      return undefined;
    }
  };

  const NUMBERS = [
    "1",
    '"1"',
    '"01"',
    '"+1"',
    '" 1"',
    '"1 "',
    "1.0",
    '"1.0"',
    "1e0",
    '"1e0"',
    "1e3",
    '"1e3"',
    '"0x1"',
    '"1_0"',
    '"١"',
    '"-1"',
    "-1",
    "-0",
    '"-0"',
    "0",
    '""',
    "null",
    "true",
    "[1]",
    "2147483648",
    "9007199254740993",
    '"9007199254740993"',
    '"9223372036854775808"',
    '"-9223372036854775809"',
    "1e30",
    '"NaN"',
    '"Infinity"',
    "1.5",
  ];
  test.each(["number", "big", "huge", "textBig", "optionalNumber"])(
    "%s: one spelling each, and that of the field",
    async (name) => {
      const proto = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      const reader = requestField(REQUEST, proto);
      for (const number of NUMBERS) {
        const message = await read(`{"${name}":${number}}`);
        if (message === undefined) continue;
        const id = orRefused(() => reader(message));
        if (id === REFUSED) continue;
        const handled = (message as unknown as Record<string, unknown>)[name];
        if (id === undefined) expect(["0", "undefined"]).toContain(String(handled ?? "0"));
        else {
          expect(id).toBe(String(handled));
          expect(id).toMatch(/^(?:0|-?[1-9][0-9]*)$/);
        }
        // Over gRPC it is the same number, so the same object.
        expect(reader(fromBinary(REQUEST, toBinary(REQUEST, message)))).toBe(id);
      }
    },
  );

  test("an enum is its name, in whatever form it was sent", async () => {
    const reader = requestField(REQUEST, "kind");
    for (const kind of ['"BOOK"', "1"]) {
      expect(reader(await read(`{"kind":${kind}}`))).toBe("BOOK");
    }
    for (const kind of ['"book"', '"BOOK "', "1.5", '"2"', "true", '"KIND_BOOK"']) {
      const message = await read(`{"kind":${kind}}`);
      if (message !== undefined) expect(reader(message)).toBe("BOOK");
    }
    const unknown = create(REQUEST, { kind: 99 } as never);
    expect(() => reader(unknown)).toThrow(/which a.v1.Kind does not define/);
    expect(reader(create(REQUEST))).toBeUndefined();
  });

  test("a oneof with two members is refused", async () => {
    expect(await read('{"project":"a","task":1}')).toBeUndefined();
    expect(await read('{"project":"a","nested":{"id":"b"}}')).toBeUndefined();
    const message = (await read('{"project":"a"}')) as Message;
    expect(requestField(REQUEST, "project")(message)).toBe("a");
    expect(requestField(REQUEST, "nested.id")(message)).toBeUndefined();
  });

  test("a field with two names, or twice, is refused", async () => {
    for (const json of [
      '{"optional_id":"a","optionalId":"b"}',
      '{"optionalId":"b","optional_id":"a"}',
      '{"optionalId":"a","optional_id":null}',
      '{"inner":{"id":"a"},"inner":{"id":"b"}}',
      '{"optional_id":"a","optional\\u005fid":"b"}',
    ]) {
      const message = await read(json);
      // null beside a value does not change the value.
      if (message !== undefined) expect(requestField(REQUEST, "optional_id")(message)).toBe("a");
      if (!json.includes("null")) expect(message).toBeUndefined();
    }
  });

  test("a missing parent field is not an object, nor is one of the prototype", async () => {
    const reader = requestField(REQUEST, "constructor");
    expect(reader(create(REQUEST))).toBeUndefined();
    expect(
      requestField(REQUEST, "inner.id")((await read('{"inner":{}}')) as Message),
    ).toBeUndefined();
    expect(await read('{"inner":{"__proto__":{"id":"x"}}}')).toBeUndefined();
  });

  test("ids are compared exactly, without normalisation", () => {
    const reader = requestField(REQUEST, "id");
    const ids = ["\u00e9", "e\u0301", "\uff45", "E", "e", "e\u200b"];
    expect(new Set(ids.map((id) => reader(create(REQUEST, { id } as never)))).size).toBe(
      ids.length,
    );
  });
});
