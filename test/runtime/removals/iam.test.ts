/** Removals of a service whose relationships are in IAM, which lets it read and write its own types only. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { startIam } from "../../../services/iam/test/support/iam-service.ts";
import { openIamEngine } from "../../../services/iam/test/support/permissions.ts";
import { type AuthorizationEngine, AuthzError } from "../../../src/authz/index.ts";
import { openRemovals } from "../../../src/runtime/removals/open-removals.ts";
import { settingsOf } from "../../database/settings.ts";
import { NOTE_MODEL, noteRemoval, openNotes, relationshipsOf, touching } from "./note-service.ts";

const IAM_MODEL = new URL("../../../model/iam.zed", import.meta.url).pathname;
const TOKEN = "the-internal-token-of-the-notes";

/** Notes, svc-iam with their model, and the removals of notes with the engine `iam`. */
async function openNotesInIam() {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-removals-"));
  const [platform, model] = [join(folder, "platform.zed"), join(folder, "notes.zed")];
  const own = NOTE_MODEL.replace("definition user {}\n", "");
  writeFileSync(platform, `${readFileSync(IAM_MODEL, "utf8")}\n${own}`);
  writeFileSync(model, NOTE_MODEL);
  const iam = await startIam({
    authz: { model: platform },
    authn: { internal_call: { enabled: true, token: [{ service: "notes", token: TOKEN }] } },
    iam: { services: { notes: { read_types: ["note"], write_types: ["note"] } } },
  });
  const engine = await openIamEngine({ target: iam.grpcTarget, token: TOKEN, model, folder });
  const database = await openNotes({ database: settingsOf({ file: join(folder, "notes.db") }) });
  const clock = { now: Date.now() };
  const removals = await openRemovals({ database, engine, now: () => clock.now });
  removals.register({ ...noteRemoval, namedBy: ["note"] });
  return {
    iam,
    engine,
    database,
    clock,
    removals,
    async close() {
      await engine.close();
      await database.close();
      await iam.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

test("relationships in IAM are removed with the types that the service may read and write", async () => {
  const { engine, database, clock, removals, close } = await openNotesInIam();
  removals.register({ ...noteRemoval, name: "any" });
  await engine.writeRelationships(touching(relationshipsOf("a")));
  await database.kysely.insertInto("notes").values({ id: "a", state: "deleted" }).execute();

  const { signal } = new AbortController();
  await database.inTransaction((transaction) => removals.add(transaction, "any", "a"));
  // What IAM says is for the log, which has the causes.
  await expect(removals.run(signal)).rejects.toMatchObject({
    message: expect.stringContaining("iam.services of IAM"),
    cause: { message: expect.stringContaining("iam.services.notes.read_types") },
  });
  await database.inTransaction((transaction) => removals.add(transaction, "note", "a"));
  await removals.run(signal);
  expect((await engine.readRelationships({ resourceType: "note" })).items).toEqual([]);
  clock.now += 30_000;
  await removals.run(signal).catch(() => undefined);
  expect(await database.kysely.selectFrom("notes").selectAll().execute()).toEqual([]);

  await close();
});

/** Makes an engine list no more than some relationships, as the embedded one lists no more than a million. */
function listAtMost(most: number, engine: AuthorizationEngine): void {
  const read = engine.readRelationships.bind(engine);
  vi.spyOn(engine, "readRelationships").mockImplementation(async (filter, page, options) => {
    const isListing = page?.any !== true;
    if (isListing && (await read(filter)).items.length > most) {
      throw new AuthzError("RESOURCE_EXHAUSTED", `there are more than ${most} results`);
    }
    return read(filter, page, options);
  });
}

test("more relationships than IAM lists are removed too, in portions, and by whoever continues", async () => {
  const { iam, engine, database, removals, close } = await openNotesInIam();
  listAtMost(100, iam.options.engine as AuthorizationEngine);
  for (const part of [0, 1, 2]) {
    const viewers = Array.from({ length: 700 }, (_, index) => ({
      resource: { type: "note", id: "a" },
      relation: "viewer",
      subject: { type: "user", id: `u${part}-${index}` },
    }));
    await engine.writeRelationships(touching(viewers));
  }
  await expect(engine.readRelationships({ resourceType: "note" })).rejects.toMatchObject({
    code: "RESOURCE_EXHAUSTED",
  });
  await database.inTransaction((transaction) => removals.add(transaction, "note", "a"));

  const sizes: number[] = [];
  const stop = new AbortController();
  const write = engine.writeRelationships.bind(engine);
  vi.spyOn(engine, "writeRelationships").mockImplementation(async (request, options) => {
    const revision = await write(request, options);
    sizes.push(request.updates.length);
    stop.abort(new Error("the service stops"));
    return revision;
  });
  await expect(removals.run(stop.signal)).rejects.toThrow("the service stops");
  expect(sizes).toEqual([500]);

  await removals.run(new AbortController().signal);
  expect(sizes).toEqual([500, 500, 500, 500, 100]);
  expect((await engine.readRelationships({ resourceType: "note" })).items).toEqual([]);
  await close();
});
