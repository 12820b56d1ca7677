/** What raw handlers see of forged identity headers. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readRouteDocument } from "../../../src/runtime/registry/index.ts";
import { FIXTURE } from "../support/vault-server.ts";
import { ALICE } from "./support/alice.ts";
import { requestText, sendText } from "./support/raw-http.ts";
import { startWorld, type World } from "./support/world.ts";

let world: World;
const seen: unknown[] = [];

beforeAll(async () => {
  world = await startWorld({
    mode: "gateway_trusted",
    routes: readRouteDocument(join(FIXTURE, "gen/routes/vault.json")),
    rawHandlers: [
      {
        path: "/pages",
        handle: ({ headers, incoming }, { principal }) => {
          const raw = incoming.rawHeaders.map((text) => text.toLowerCase());
          seen.push([
            principal?.subjectId,
            headers.all("x-svc-user-id"),
            [...headers.names()].includes("x-svc-user-id"),
            incoming.headers["x-svc-user-id"],
            incoming.headersDistinct["x-svc-user-id"],
            raw.includes("x-svc-user-id"),
          ]);
          return { status: 200 };
        },
      },
      { path: "/account", handle: () => ({ status: 200 }) },
    ],
  });
});
afterAll(() => world.stop());

test.each([
  ["stranger", [undefined, [], false, undefined, undefined, false]],
  ["trusted", ["alice", ["alice"], true, "alice", ["alice"], true]],
] as const)("those of a %s", async (from, expected) => {
  const [response] = await sendText(world.port("http", from), requestText("GET /pages", ALICE));
  expect(response?.status).toBe(200);
  expect(seen.at(-1)).toEqual(expected);
});
