/** Callers of gRPC streams and connections. */
import type { ClientHttp2Session, OutgoingHttpHeaders } from "node:http2";
import { connect as connectSocket } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { targetOf } from "../../access-table/call.ts";
import { ConverseRequestSchema } from "../../fixture/gen/acme/vault/v1/vault_pb.ts";
import { frame, rawCall } from "../../grpc/support/raw-call.ts";
import { INTERNAL_TOKEN } from "../../support/vault-server.ts";
import { laxSession } from "../support/lax-session.ts";
import { startWorld, type World } from "../support/world.ts";

const SERVICE = "/acme.vault.v1.VaultService";
const MAX = 64 * 1024;
const ALICE: OutgoingHttpHeaders = { "x-svc-auth-verified": "true", "x-svc-user-id": "alice" };
const INTERNAL: OutgoingHttpHeaders = { "x-svc-internal-token": INTERNAL_TOKEN };
const profile = targetOf("AUTHENTICATED");

let world: World;
let session: ClientHttp2Session;
beforeAll(async () => {
  const address = { address: "127.0.0.1:0" };
  const config = { server: { http: address, grpc: { ...address, max_message_bytes: MAX } } };
  world = await startWorld({ mode: "gateway_trusted", config });
});
afterAll(() => world.stop());
beforeEach(() => {
  world.handled.length = 0;
  session = laxSession(world.port("grpc", "trusted"));
});
afterEach(() => session.destroy());

describe("11 identities of a stream", () => {
  const say = (text: string) =>
    frame(toBinary(ConverseRequestSchema, create(ConverseRequestSchema, { text })));

  test("11 a stream has the caller of its headers from the first message to the last", async () => {
    const answer = await rawCall(
      session,
      `${SERVICE}/Converse`,
      ALICE,
      Buffer.concat([say("a"), say("b")]),
    );
    expect(answer.grpcStatus).toBe(0);
    expect(world.handled.map(({ principal }) => principal?.subjectId)).toEqual(["alice"]);
  });

  test("11 trailers of the client are not headers", async () => {
    const stream = session.request(
      {
        ":method": "POST",
        ":path": profile.rpc,
        "content-type": "application/grpc",
        te: "trailers",
      },
      { waitForTrailers: true },
    );
    stream.on("wantTrailers", () => stream.sendTrailers(ALICE));
    stream.end(frame(profile.message));
    const status = await new Promise((resolve) => {
      stream.on("response", (headers) => resolve(headers["grpc-status"]));
      stream.on("trailers", (headers) => resolve(headers["grpc-status"]));
      stream.resume();
    });
    expect(status).toBe("16");
    expect(world.handled).toEqual([]);
  });

  test("11 concurrent calls on one connection keep their own callers", async () => {
    const callers = [ALICE, { ...ALICE, "x-svc-user-id": "bob" }, {}, INTERNAL];
    const names = ["alice", "bob", undefined, "hub"];
    const answers = await Promise.all(
      new Array(200).fill(0).map(async (_, index) => {
        const answer = await rawCall(
          session,
          profile.rpc,
          callers[index % 4],
          frame(profile.message),
        );
        return { name: names[index % 4], status: answer.grpcStatus, text: answer.body.toString() };
      }),
    );
    for (const { name, status, text } of answers) {
      expect(status).toBe(name === undefined ? 16 : 0);
      if (name !== undefined) expect(text).toContain(name);
    }
  });

  test("11 :authority and host in one call identify no caller", async () => {
    const answer = await rawCall(
      session,
      profile.rpc,
      { ":authority": "alice@vault", host: "admin" },
      frame(profile.message),
    );
    expect(answer.grpcStatus).not.toBe(0);
    expect(world.handled).toEqual([]);
  });
});

describe("40 misused connections", () => {
  test("40 a client that cancels its calls at once is cut off, and others are served", async () => {
    const attacker = laxSession(world.port("grpc", "stranger"));
    const gone = new Promise<void>((resolve) => attacker.once("close", resolve));
    await new Promise((resolve) => attacker.once("connect", resolve));
    const flood = async () => {
      while (!attacker.destroyed && !attacker.closed) {
        for (let index = 0; index < 200 && !attacker.destroyed && !attacker.closed; index++) {
          const stream = attacker.request({
            ":method": "POST",
            ":path": profile.rpc,
            "content-type": "application/grpc",
          });
          stream.on("error", () => undefined);
          stream.close(8);
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all([flood(), gone]);
    expect((await rawCall(session, profile.rpc, ALICE, frame(profile.message))).grpcStatus).toBe(0);
  });

  test("40 129 fields are too many", async () => {
    const fields = Object.fromEntries(
      new Array(140).fill(0).map((_, index) => [`x-${index}`, "1"]),
    );
    const answer = await rawCall(
      session,
      profile.rpc,
      { ...ALICE, ...fields },
      frame(profile.message),
    );
    expect(answer.grpcStatus).not.toBe(0);
    expect(world.handled).toEqual([]);
  });

  test("40 bytes that are not HTTP/2 do not harm the server", async () => {
    for (const text of [
      "GET /v1/profile HTTP/1.1\r\nHost: x\r\n\r\n",
      "\0".repeat(1000),
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff",
    ]) {
      const socket = connectSocket(world.vault.grpc, "127.0.0.1");
      socket.on("error", () => undefined).resume();
      socket.end(Buffer.from(text, "latin1"));
      await new Promise((resolve) => socket.once("close", resolve));
    }
    expect((await rawCall(session, profile.rpc, ALICE, frame(profile.message))).grpcStatus).toBe(0);
  });
});
