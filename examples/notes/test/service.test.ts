/** Tests of the whole service: the production server, on free ports, with its own stores. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { startTestServer } from "svc-access/testing";
import { NotesService } from "../gen/notes/v1/notes_pb.ts";
import { bindNotesService } from "../gen/notes/v1/notes_server.ts";
import { handlers } from "../src/handlers.ts";

/** The folder of the service, wherever the tests are started from. */
const folder = join(import.meta.dirname, "..");

const start = () =>
  startTestServer((engine) => bindNotesService(handlers(engine)), {
    model: join(folder, "model.zed"),
    routes: join(folder, "gen/routes/notes.json"),
    relationships: ["item:first#owner@user:alice"],
    services: ["alice"],
  });

test("the owner may change an item, others may not, and both calls are audited", async () => {
  await using server = await start();
  const alice = server.as({ user: "alice" }).grpc(NotesService);
  const bob = server.as({ user: "bob" }).grpc(NotesService);

  await alice.setItem({ itemId: "first", text: "hello" });
  await assert.rejects(bob.setItem({ itemId: "first", text: "mine" }), { code: "FORBIDDEN" });

  const { items } = await alice.listItems({});
  assert.deepEqual(
    items.map(({ text }) => text),
    ["hello"],
  );
  assert.deepEqual((await bob.listItems({})).items, []);
  // A service or a service account with the same name is another caller.
  for (const other of [
    { service: "alice" },
    { user: "alice", subjectType: "service_account" },
  ] as const) {
    assert.deepEqual((await server.as(other).grpc(NotesService).listItems({})).items, []);
  }

  const events = await server.auditEvents({ type: "notes.item.set" });
  assert.deepEqual(
    events.map(({ data }) => `${data.principal?.id} ${data.decision}`),
    ["alice allowed", "bob denied"],
  );
});

test("over HTTP, everyone may get the version, and only logged-in users may list items", async () => {
  await using server = await start();
  const nobody = server.as("nobody");
  assert.deepEqual(await (await nobody.fetch("/v1/notes/version")).json(), { version: "1.0.0" });
  assert.equal((await nobody.fetch("/v1/notes/items")).status, 401);
});
