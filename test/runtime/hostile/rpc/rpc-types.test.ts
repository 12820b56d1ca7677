/** Encodings and content types that no client of Connect, gRPC-Web or gRPC on the HTTP port sends. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { targetOf } from "../../access-table/call.ts";
import { BY_FORM, WIRES, type WireName } from "../../support/wire/protocols.ts";
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

describe("39 invalid compressions", () => {
  const UNKNOWN = [
    "br",
    "GZIP",
    "x-gzip",
    "gzip, gzip",
    "identity, gzip",
    "gzip;q=1",
    "*",
    "\u00ff",
  ];
  test.each(UNKNOWN)("39 %j", async (value) => {
    // HTTP's names are case-insensitive: the body is read as gzip, which it is not.
    const ofHttp = value === "GZIP" ? "INVALID_ARGUMENT" : "UNIMPLEMENTED";
    expect(await reported(world, CONNECT, DOCUMENT, [["Content-Encoding", value]])).toEqual(
      every(CONNECT, ofHttp),
    );
    expect(await reported(world, CONNECT, STREAM, [["Connect-Content-Encoding", value]])).toEqual(
      every(CONNECT, "UNIMPLEMENTED"),
    );
    expect(await reported(world, [...WEB, ...GRPC], DOCUMENT, [["Grpc-Encoding", value]])).toEqual(
      every([...WEB, ...GRPC], "UNIMPLEMENTED"),
    );
  });

  test("39 two of them", async () => {
    const twice = (name: string): Field[] => [
      [name, "gzip"],
      [name, "identity"],
    ];
    expect(await reported(world, CONNECT, DOCUMENT, twice("Content-Encoding"))).toEqual(
      every(CONNECT, "INVALID_ARGUMENT"),
    );
    expect(await reported(world, CONNECT, STREAM, twice("Connect-Content-Encoding"))).toEqual(
      every(CONNECT, "INVALID_ARGUMENT"),
    );
    expect(await reported(world, [...WEB, ...GRPC], DOCUMENT, twice("Grpc-Encoding"))).toEqual(
      every([...WEB, ...GRPC], "INVALID_ARGUMENT"),
    );
  });

  test("39 those of another protocol have no effect", async () => {
    const others: Field[] = [
      ["Connect-Content-Encoding", "br"],
      ["Grpc-Encoding", "br"],
      ["Grpc-Accept-Encoding", "br"],
      ["Accept-Encoding", "br;q=9, \u00ff"],
    ];
    expect(await reported(world, [...CONNECT, ...GET], DOCUMENT, others)).toEqual(
      every([...CONNECT, ...GET], "served"),
    );
  });

  test("39 a message without its declared compression, and one that decompresses to too much", async () => {
    const bomb = gzipSync(Buffer.alloc(100 * MAX));
    const fields = withAlice(["Content-Encoding", "gzip"]);
    for (const name of CONNECT) {
      expect(await callWith(world, name, DOCUMENT, { fields })).toBe("INVALID_ARGUMENT");
      const cut = gzipSync(Buffer.from(DOCUMENT.message)).subarray(0, -4);
      expect(await callWith(world, name, DOCUMENT, { fields, body: cut })).toBe("INVALID_ARGUMENT");
      expect(await callWith(world, name, DOCUMENT, { fields, body: bomb })).toBe(
        "PAYLOAD_TOO_LARGE",
      );
    }
  });
});

describe("38 a content type that does not match exactly belongs to no protocol", () => {
  const FORMS: readonly WireName[] = ["connect proto", "connect proto over h2c"];
  test.each<[string, Field[]]>([
    ["38 none", [["Content-Type", ""]]],
    [
      "38 two headers",
      [
        ["Content-Type", "application/proto"],
        ["Content-Type", "application/proto"],
      ],
    ],
    ["38 two types joined", [["Content-Type", "application/proto, application/json"]]],
    ["38 another charset", [["Content-Type", "application/proto; charset=utf-16"]]],
    ["38 another parameter", [["Content-Type", "application/proto; x=1"]]],
    ["38 a semicolon", [["Content-Type", "application/proto;"]]],
    ["38 a type with the same prefix", [["Content-Type", "application/protobuf"]]],
    ["38 a suffix", [["Content-Type", "application/x+proto"]]],
    ["38 JSON with an invalid byte", [["Content-Type", "application/json\u00ff"]]],
    ["38 a form", [["Content-Type", "application/x-www-form-urlencoded"]]],
    ["38 a form of parts", [["Content-Type", "multipart/form-data; boundary=x"]]],
    ["38 text", [["Content-Type", "text/plain;charset=UTF-8"]]],
    ["38 text that names another", [["Content-Type", "text/plain; application/proto"]]],
    ["38 streams of Connect", [["Content-Type", "application/connect+proto"]]],
    ["38 gRPC-Web with an unknown codec", [["Content-Type", "application/grpc-web+thrift"]]],
    ["38 gRPC-Web text as JSON", [["Content-Type", "application/grpc-web-text+json"]]],
  ])("%s", async (_title, fields) => {
    expect(await reported(world, FORMS, DOCUMENT, fields)).toEqual(every(FORMS, "415"));
  });

  test("38 gRPC over HTTP/1.1 is not gRPC", async () => {
    const fields = withAlice(["Content-Type", "application/grpc"]);
    expect(await callWith(world, "connect proto", DOCUMENT, { fields })).toBe("415");
  });

  test("38 JSON without the version of Connect is not Connect", async () => {
    for (const name of ["connect json", "connect json over h2c"] as const) {
      const { json } = DOCUMENT;
      const fields = withAlice(["Content-Type", "application/json"]);
      const call = { ...DOCUMENT, route: { method: "POST", path: DOCUMENT.rpc, body: json } };
      const wire = WIRES[name].version === "2" ? "http over h2c" : "http";
      // In the form of routes.
      const code = "UNSUPPORTED_MEDIA_TYPE";
      expect(await callWith(world, wire, call, { fields })).toBe(code);
    }
  });
});
