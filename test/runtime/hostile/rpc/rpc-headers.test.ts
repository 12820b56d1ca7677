/** Headers that no client of Connect, gRPC-Web or gRPC on the HTTP port sends, over HTTP/1.1 and HTTP/2. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { targetOf } from "../../access-table/call.ts";
import { BY_FORM } from "../../support/wire/protocols.ts";
import type { Field } from "../support/raw-http.ts";
import { callWith, every, reported, withAlice } from "../support/rpc-call.ts";
import { startSmallWorld, type World } from "../support/world.ts";

const MAX = 64 * 1024;

let world: World;
beforeAll(async () => {
  world = await startSmallWorld(MAX);
});
afterAll(() => world.stop());

const DOCUMENT = targetOf("AUTHORIZED, allowed");
const STREAM = targetOf("AUTHORIZED, stream of answers");
const { CONNECT, GET, WEB, GRPC } = BY_FORM;
const ALL = [...CONNECT, ...GET, ...WEB, ...GRPC];

test("the unchanged call of the tables below is served", async () => {
  expect(await reported(world, ALL, DOCUMENT, [])).toEqual(every(ALL, "served"));
  const streaming = [...CONNECT, ...WEB, ...GRPC];
  expect(await reported(world, streaming, STREAM, [])).toEqual(every(streaming, "served"));
});

describe("39 invalid deadlines are refused, and not treated as no deadline", () => {
  test.each([
    "",
    "-1",
    "+1",
    "1.5",
    "1e3",
    "0x10",
    "10000000000",
    "1S",
    "5, 5",
    "infinity",
    "\u00b2",
  ])("39 Connect-Timeout-Ms %j", async (value) => {
    const fields: Field[] = [["Connect-Timeout-Ms", value]];
    const own = [...CONNECT, ...GET];
    expect(await reported(world, own, DOCUMENT, fields)).toEqual(every(own, "INVALID_ARGUMENT"));
    expect(await reported(world, CONNECT, STREAM, fields)).toEqual(
      every(CONNECT, "INVALID_ARGUMENT"),
    );
    // It belongs to another protocol.
    expect(await reported(world, [...WEB, ...GRPC], DOCUMENT, fields)).toEqual(
      every([...WEB, ...GRPC], "served"),
    );
  });

  test.each(["", "1", "S", "-1S", "1.5S", "999999999S", "1x", "5S, 5S", "infinite"])(
    "39 Grpc-Timeout %j",
    async (value) => {
      const fields: Field[] = [["Grpc-Timeout", value]];
      const own = [...WEB, ...GRPC];
      expect(await reported(world, own, DOCUMENT, fields)).toEqual(every(own, "INVALID_ARGUMENT"));
      expect(await reported(world, [...CONNECT, ...GET], DOCUMENT, fields)).toEqual(
        every([...CONNECT, ...GET], "served"),
      );
    },
  );

  test("39 two of them, and one of 0", async () => {
    const connect = [...CONNECT, ...GET];
    const twice = (name: string, value: string): Field[] => [
      [name, value],
      [name, value],
    ];
    expect(await reported(world, connect, DOCUMENT, twice("Connect-Timeout-Ms", "5000"))).toEqual(
      every(connect, "INVALID_ARGUMENT"),
    );
    expect(await reported(world, [...WEB, ...GRPC], DOCUMENT, twice("Grpc-Timeout", "5S"))).toEqual(
      every([...WEB, ...GRPC], "INVALID_ARGUMENT"),
    );
    expect(await reported(world, connect, DOCUMENT, [["Connect-Timeout-Ms", "0"]])).toEqual(
      every(connect, "DEADLINE_EXCEEDED"),
    );
    expect(await reported(world, [...WEB, ...GRPC], DOCUMENT, [["Grpc-Timeout", "0n"]])).toEqual(
      every([...WEB, ...GRPC], "DEADLINE_EXCEEDED"),
    );
  });
});

describe("38 another version of Connect is refused", () => {
  test.each<[string, Field[]]>([
    ["2", [["Connect-Protocol-Version", "2"]]],
    ["nothing", [["Connect-Protocol-Version", ""]]],
    ["01", [["Connect-Protocol-Version", "01"]]],
    ["v1", [["Connect-Protocol-Version", "v1"]]],
    ["two of them joined", [["Connect-Protocol-Version", "1, 1"]]],
    [
      "two of them",
      [
        ["Connect-Protocol-Version", "1"],
        ["Connect-Protocol-Version", "1"],
      ],
    ],
    [
      "one and another",
      [
        ["Connect-Protocol-Version", "1"],
        ["connect-protocol-version", "2"],
      ],
    ],
  ])("38 %s", async (_title, fields) => {
    const own = [...CONNECT, ...GET];
    expect(await reported(world, own, DOCUMENT, fields)).toEqual(every(own, "INVALID_ARGUMENT"));
    expect(await reported(world, CONNECT, STREAM, fields)).toEqual(
      every(CONNECT, "INVALID_ARGUMENT"),
    );
    // It does not turn a request of another protocol into Connect.
    expect(await reported(world, [...WEB, ...GRPC], DOCUMENT, fields)).toEqual(
      every([...WEB, ...GRPC], "served"),
    );
  });
});

describe("12 the method is that of the request line", () => {
  test.each(["PUT", "PATCH", "DELETE", "QUERY", "REPORT"])(
    "12 %s is not allowed",
    async (method) => {
      for (const name of [...CONNECT, ...WEB]) {
        expect(await callWith(world, name, DOCUMENT, { method })).toBe("405");
      }
    },
  );

  test("12 headers and parameters with another method have no effect", async () => {
    const override: Field[] = [
      ["X-Http-Method-Override", "POST"],
      ["X-Http-Method", "POST"],
      ["X-Method-Override", "POST"],
    ];
    const internal = targetOf("INTERNAL", "connect_get");
    for (const name of GET) {
      const fields = withAlice(...override);
      expect(await callWith(world, name, internal, { fields })).toBe("405");
    }
    const toGet = override.map(([name]): Field => [name, "GET"]);
    expect(await reported(world, ALL, DOCUMENT, toGet)).toEqual(every(ALL, "served"));
    expect(
      await reported(world, [...CONNECT, ...WEB, ...GRPC], targetOf("INTERNAL"), toGet),
    ).toEqual(every([...CONNECT, ...WEB, ...GRPC], "FORBIDDEN"));
  });
});
