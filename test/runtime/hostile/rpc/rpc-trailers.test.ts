/** Fields after a body, or with the form of trailers, identify no caller, over any protocol. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { targetOf } from "../../access-table/call.ts";
import { INTERNAL_TOKEN } from "../../support/vault-server.ts";
import { BY_FORM, WIRES } from "../../support/wire/protocols.ts";
import { requestOf } from "../../support/wire/wire-request.ts";
import { laxSession, metadataOf } from "../support/lax-session.ts";
import { type Field, requestText, sendText } from "../support/raw-http.ts";
import { callWith } from "../support/rpc-call.ts";
import { startWorld, type World } from "../support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ mode: "gateway_trusted" });
});
afterAll(() => world.stop());
beforeEach(() => void (world.handled.length = 0));

const STREAM = targetOf("AUTHORIZED, stream of answers");
const { CONNECT, WEB, GRPC } = BY_FORM;

describe("after the body", () => {
  const IDENTITY: readonly Field[] = [
    ["X-Svc-Auth-Verified", "true"],
    ["X-Svc-User-Id", "alice"],
    ["X-Svc-External-Sub", "alice"],
    ["X-Svc-Internal-Token", INTERNAL_TOKEN],
  ];
  const TARGETS = [targetOf("AUTHENTICATED"), targetOf("INTERNAL"), STREAM];
  const OVER_1 = [...CONNECT, ...WEB].filter((name) => WIRES[name].version === "1.1");
  const OVER_2 = [...CONNECT, ...WEB, ...GRPC].filter((name) => WIRES[name].version === "2");

  test.each(OVER_1)("trailers of HTTP/1.1 are not headers of %s", async (name) => {
    for (const target of TARGETS) {
      const { path, fields, body } = requestOf(WIRES[name], target);
      const sent: Field[] = [
        ...fields,
        ["Transfer-Encoding", "chunked"],
        ["Trailer", IDENTITY.map(([one]) => one).join(", ")],
      ];
      const trailers = IDENTITY.map(([one, value]) => `${one}: ${value}\r\n`).join("");
      const size = body.length.toString(16);
      const chunk = body.length === 0 ? "" : `${size}\r\n${body.toString("latin1")}\r\n`;
      const text = requestText(`POST ${path}`, sent, `${chunk}0\r\n${trailers}\r\n`);
      const [response] = await sendText(world.port("http", "trusted"), text);
      expect([200, 401]).toContain(response?.status);
    }
    expect(world.handled).toEqual([]);
  });

  test.each(OVER_2)("trailers of HTTP/2 are not headers of %s", async (name) => {
    const session = laxSession(world.port(WIRES[name].port, "trusted"));
    for (const target of TARGETS) {
      const { path, fields, body } = requestOf(WIRES[name], target);
      const head = { ":method": "POST", ":path": path, ...metadataOf(fields) };
      const stream = session.request(head, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers(metadataOf(IDENTITY)));
      stream.on("error", () => undefined);
      const status = new Promise<number>((resolve) => {
        stream.once("response", (answer) => resolve(Number(answer[":status"])));
      });
      stream.resume().end(body);
      expect([200, 401]).toContain(await status);
      if (!stream.closed) await new Promise((resolve) => stream.once("close", resolve));
    }
    session.destroy();
    expect(world.handled).toEqual([]);
  });

  test("headers with Connect's prefix of trailers identify no caller", async () => {
    const fields = IDENTITY.map(([one, value]): Field => [`Trailer-${one}`, value]);
    for (const name of [...CONNECT, ...WEB, ...GRPC]) {
      for (const target of [targetOf("AUTHENTICATED"), targetOf("INTERNAL")]) {
        const answer = await callWith(world, name, target, { fields });
        expect(["UNAUTHORIZED", "INVALID_ARGUMENT"]).toContain(answer);
      }
    }
  });
});
