/** `server.max_message_elements`, by both transports. */
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createGrpcClient } from "../../../../src/runtime/index.ts";
import { AllSchema, KindService } from "../unusual-protos/gen/unusual/kinds/v1/kinds_pb.ts";
import { bindKindService } from "../unusual-protos/gen/unusual/kinds/v1/kinds_server.ts";
import { startUnusual, type UnusualServer } from "../unusual-protos/unusual-server.ts";

const LIMIT = 1_000;

let server: UnusualServer;
beforeAll(async () => {
  server = await startUnusual([bindKindService], {}, { max_message_elements: LIMIT });
});
afterAll(() => server.stop());

const flats = (count: number) => Array.from({ length: count }, () => ({ texts: ["a", "b", "c"] }));

async function post(path: string, body: unknown) {
  const response = await fetch(`http://127.0.0.1:${server.http}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
  });
  return { status: response.status, body: (await response.json()) as object };
}

const TOO_LARGE = {
  status: 413,
  body: {
    code: "PAYLOAD_TOO_LARGE",
    message: `the body has more than ${LIMIT} elements (server.max_message_elements)`,
  },
};

test.each([
  ["a whole body", "/v1/whole", (count: number) => ({ alls: Array(count).fill({}) })],
  ["a field as the body", "/v1/body/parts", flats],
])("%s with too many is 413 in JSON", async (_name, path, body) => {
  server.seen.length = 0;
  expect((await post(path, body(100))).status).toBe(200);
  expect(await post(path, body(LIMIT))).toMatchObject(TOO_LARGE);
  expect(server.seen).toHaveLength(1);
});

test("a message with too many is refused over gRPC [TRANS-4]", async () => {
  await using client = createGrpcClient(KindService, {
    target: `127.0.0.1:${server.grpc}`,
    retry: false,
    circuitBreaker: false,
  });
  const whole = (count: number) =>
    client.whole(create(AllSchema, { alls: Array(count).fill({ flat: { text: "abc" } }) }));
  await whole(10);
  await expect(whole(LIMIT)).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
});

test("a message counts as one element per 16 of its fields, over both protocols", async () => {
  await using client = createGrpcClient(KindService, {
    target: `127.0.0.1:${server.grpc}`,
    retry: false,
    circuitBreaker: false,
  });
  const whole = (count: number) => ({ alls: Array(count).fill({ flat: {} }) });
  // Two values, which have many fields.
  await client.whole(create(AllSchema, whole(120)));
  await expect(client.whole(create(AllSchema, whole(300)))).rejects.toMatchObject({
    code: "PAYLOAD_TOO_LARGE",
  });
  expect((await post("/v1/whole", whole(120))).status).toBe(200);
  expect(await post("/v1/whole", whole(300))).toMatchObject(TOO_LARGE);
});
