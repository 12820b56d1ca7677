/** Header lists that no HTTP/2 client sends, in handmade frames. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { frame } from "../grpc/support/raw-call.ts";
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  type HeaderList,
  headerBlock,
  RawHttp2,
  rawFrame,
} from "./support/raw-http2.ts";
import { startWorld, type World } from "./support/world.ts";

const PROTOCOL_ERROR = "RST 1";
const PROFILE = "/acme.vault.v1.VaultService/GetProfile";
const PSEUDO: HeaderList = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", PROFILE],
  [":authority", "vault"],
];
const GRPC: HeaderList = [
  ["content-type", "application/grpc"],
  ["te", "trailers"],
];
const ALICE: HeaderList = [
  ["x-svc-auth-verified", "true"],
  ["x-svc-user-id", "alice"],
];

/** The protocols of HTTP/2, each with a message of five bytes. */
const WAYS = [
  { title: "gRPC", port: "grpc", type: "application/grpc", body: frame(new Uint8Array()) },
  {
    title: "gRPC on the HTTP port",
    port: "http",
    type: "application/grpc",
    body: frame(new Uint8Array()),
  },
  // An unknown field.
  { title: "Connect", port: "http", type: "application/proto", body: Buffer.from("\n\u0003abc") },
  { title: "gRPC-Web", port: "http", type: "application/grpc-web", body: frame(new Uint8Array()) },
] as const;

const without = (name: string) => PSEUDO.filter(([one]) => one !== name);
const withValue = (name: string, value: string) =>
  PSEUDO.map(([one, old]): [string, string] => [one, one === name ? value : old]);

describe.each(WAYS)("by $title", (way) => {
  let world: World;
  let client: RawHttp2;
  beforeAll(async () => {
    world = await startWorld({ mode: "gateway_trusted" });
  });
  afterAll(() => world.stop());
  beforeEach(() => {
    world.handled.length = 0;
    client = new RawHttp2(world.port(way.port, "trusted"));
  });
  afterEach(() => client.end());

  /** The same header list for this protocol. */
  const typed = (list: HeaderList): HeaderList =>
    list.map(([name, value]) => [name, name === "content-type" ? way.type : value]);

  /** Sends one request with an empty message, and returns its outcome. */
  async function call(...lists: HeaderList[]): Promise<string> {
    await client.send(
      rawFrame(FRAME.HEADERS, END_HEADERS, 1, headerBlock(typed(lists.flat()))),
      rawFrame(FRAME.DATA, END_STREAM, 1, way.body),
    );
    return client.outcome(1);
  }

  test("the unchanged call of the tables below is a call of alice", async () => {
    expect(await call(PSEUDO, GRPC, ALICE)).toBe("answered");
    expect(world.handled.map(({ principal }) => principal?.subjectId)).toEqual(["alice"]);
  });

  describe("a header list that HTTP/2 forbids is not a request", () => {
    test.each<[string, HeaderList]>([
      ["40 an identity in upper case", [...PSEUDO, ...GRPC, ["X-Svc-User-Id", "alice"]]],
      ["7 a connection header", [...PSEUDO, ...GRPC, ...ALICE, ["connection", "x-svc-user-id"]]],
      ["40 keep-alive", [...PSEUDO, ...GRPC, ...ALICE, ["keep-alive", "1"]]],
      ["40 proxy-connection", [...PSEUDO, ...GRPC, ...ALICE, ["proxy-connection", "close"]]],
      ["40 chunks", [...PSEUDO, ...GRPC, ...ALICE, ["transfer-encoding", "chunked"]]],
      ["40 an upgrade", [...PSEUDO, ...GRPC, ...ALICE, ["upgrade", "h2c"]]],
      ["40 a TE other than trailers", [...PSEUDO, ...GRPC, ...ALICE, ["te", "gzip"]]],
      ["40 two methods", [...PSEUDO, [":method", "GET"], ...GRPC, ...ALICE]],
      ["40 two paths", [...PSEUDO, [":path", `${PROFILE}2`], ...GRPC, ...ALICE]],
      ["40 two authorities", [...PSEUDO, [":authority", "evil"], ...GRPC, ...ALICE]],
      ["40 the same authority twice", [...PSEUDO, [":authority", "vault"], ...GRPC, ...ALICE]],
      ["40 an unknown pseudo-header", [...PSEUDO, [":user", "alice"], ...GRPC, ...ALICE]],
      ["40 a pseudo-header of a response", [...PSEUDO, [":status", "200"], ...GRPC, ...ALICE]],
      ["40 a protocol", [...PSEUDO, [":protocol", "websocket"], ...GRPC, ...ALICE]],
      ["40 a pseudo-header after a header", [...GRPC, ...PSEUDO, ...ALICE]],
      ["40 no method", [...without(":method"), ...GRPC, ...ALICE]],
      ["40 no scheme", [...without(":scheme"), ...GRPC, ...ALICE]],
      ["40 no path", [...without(":path"), ...GRPC, ...ALICE]],
      ["40 neither authority nor host", [...without(":authority"), ...GRPC, ...ALICE]],
      [
        "40 two hosts instead of an authority",
        [...without(":authority"), ...GRPC, ...ALICE, ["host", "vault"], ["host", "evil"]],
      ],
      [
        "40 a user in the authority",
        [...withValue(":authority", "alice@vault"), ...GRPC, ...ALICE],
      ],
      ["40 a space in the authority", [...withValue(":authority", "va ult"), ...GRPC, ...ALICE]],
      ["40 a method with a space", [...withValue(":method", "POST /x"), ...GRPC, ...ALICE]],
      ["37 an empty path", [...withValue(":path", ""), ...GRPC, ...ALICE]],
      ["37 a path without a slash", [...withValue(":path", PROFILE.slice(1)), ...GRPC, ...ALICE]],
      [
        "37 a path with a host",
        [...withValue(":path", `http://vault${PROFILE}`), ...GRPC, ...ALICE],
      ],
      [
        "42 CR and LF in the path",
        [...withValue(":path", `${PROFILE}\r\nx: y`), ...GRPC, ...ALICE],
      ],
      ["42 an escape in the path", [...withValue(":path", `${PROFILE}\x1b[2J`), ...GRPC, ...ALICE]],
      ["40 a length that is too long", [...PSEUDO, ...GRPC, ...ALICE, ["content-length", "6"]]],
      ["40 a length with a sign", [...PSEUDO, ...GRPC, ...ALICE, ["content-length", "+5"]]],
      [
        "40 two lengths",
        [...PSEUDO, ...GRPC, ...ALICE, ["content-length", "5"], ["content-length", "5"]],
      ],
      [
        "40 a length that overflows",
        [...PSEUDO, ...GRPC, ...ALICE, ["content-length", "9".repeat(30)]],
      ],
    ])("%s", async (_title, list) => {
      expect(await call(list)).toBe(PROTOCOL_ERROR);
      expect(world.handled).toEqual([]);
    });

    test("40 a length that is too short ends the connection", async () => {
      expect(await call(PSEUDO, GRPC, ALICE, [["content-length", "0"]])).toBe("GOAWAY 2");
      await client.closed;
      expect(world.handled).toEqual([]);
    });
  });

  describe("11 a header that only looks like an identity header identifies no caller", () => {
    const VERIFIED = ALICE.slice(0, 1);
    test.each<[string, HeaderList]>([
      ["11 a NUL after the name", [...VERIFIED, ["x-svc-user-id\0", "alice"]]],
      ["11 a space after the name", [...VERIFIED, ["x-svc-user-id ", "alice"]]],
      ["11 a colon after the name", [...VERIFIED, ["x-svc-user-id:", "alice"]]],
      ["11 CR and LF in the name", [...VERIFIED, ["x-a\r\nx-svc-user-id", "alice"]]],
      ["11 no name", [...VERIFIED, ["", "alice"]]],
      ["11 a letter of Unicode in the name", [...VERIFIED, ["x-\xc5\xbfvc-user-id", "a"]]],
      ["11 an identity after CR and LF", [["x-a", "b\r\nx-svc-user-id: alice"]]],
      ["11 an identity after LF", [["x-a", "b\nx-svc-user-id: alice"]]],
      ["11 a NUL in the value", [...VERIFIED, ["x-svc-user-id", "alice\0"]]],
      ["9 a control character in the value", [...VERIFIED, ["x-svc-user-id", "ali\u0003ce"]]],
      ["11 CR and LF after the value", [...VERIFIED, ["x-svc-user-id", "alice\r\n"]]],
      ["9 white space before the value", [...VERIFIED, ["x-svc-user-id", " alice"]]],
      ["9 white space after the value", [...VERIFIED, ["x-svc-user-id", "alice\t"]]],
      ["9 a letter that is not ASCII", [...VERIFIED, ["x-svc-user-id", "\xd0\xb0lice"]]],
    ])("%s", async (_title, fields) => {
      const lines = world.vault.lines.length;
      await call(PSEUDO, GRPC, fields);
      expect(world.handled).toEqual([]);
      await expect
        .poll(() => world.vault.lines.length, { message: "the log has a line of the call" })
        .toBe(lines + 1);
      const line = JSON.parse(world.vault.lines.at(-1) as string);
      expect(line.code).toMatch(/^(UNAUTHORIZED|INVALID_ARGUMENT)$/);
      expect(line).not.toHaveProperty("subject");
    });

    test("11 an identity in a PUSH_PROMISE ends the connection", async () => {
      const promised = Buffer.concat([Buffer.of(0, 0, 0, 2), headerBlock([...PSEUDO, ...ALICE])]);
      await client.send(
        rawFrame(FRAME.HEADERS, END_HEADERS, 1, headerBlock(typed([...PSEUDO, ...GRPC]))),
        rawFrame(FRAME.PUSH_PROMISE, END_HEADERS, 1, promised),
      );
      expect(await client.outcome(2)).toBe("GOAWAY 1");
      await client.closed;
      expect(world.handled).toEqual([]);
    });

    test("11 an identity in a second header list before the message ends the call", async () => {
      await client.send(
        rawFrame(FRAME.HEADERS, END_HEADERS, 1, headerBlock(typed([...PSEUDO, ...GRPC]))),
        rawFrame(FRAME.HEADERS, END_HEADERS, 1, headerBlock(ALICE)),
        rawFrame(FRAME.DATA, END_STREAM, 1, way.body),
      );
      expect(await client.outcome(1)).toBe(PROTOCOL_ERROR);
      expect(world.handled).toEqual([]);
    });

    test("11 an identity in a CONTINUATION belongs to the same list, and a second one is a duplicate", async () => {
      const send = async (stream: number, more: HeaderList) => {
        await client.send(
          rawFrame(FRAME.HEADERS, 0, stream, headerBlock(typed([...PSEUDO, ...GRPC, ...ALICE]))),
          rawFrame(FRAME.CONTINUATION, END_HEADERS, stream, headerBlock(more)),
          rawFrame(FRAME.DATA, END_STREAM, stream, way.body),
        );
        return client.outcome(stream);
      };
      expect(await send(1, [["x-a", "b"]])).toBe("answered");
      expect(world.handled.map(({ principal }) => principal?.subjectId)).toEqual(["alice"]);
      await send(3, [["x-svc-user-id", "bob"]]);
      expect(world.handled).toHaveLength(1);
    });
  });
});
