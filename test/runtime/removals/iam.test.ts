/** Removals of a service whose relationships are in IAM, which lets it read and write its own types only. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startIam } from "../../../services/iam/test/support/iam-service.ts";
import { openIamEngine } from "../../../services/iam/test/support/permissions.ts";
import { openRemovals } from "../../../src/runtime/removals/open-removals.ts";
import { settingsOf } from "../../database/settings.ts";
import { NOTE_MODEL, noteRemoval, openNotes, relationshipsOf, touching } from "./note-service.ts";

const IAM_MODEL = new URL("../../../model/iam.zed", import.meta.url).pathname;
const TOKEN = "the-internal-token-of-the-notes";

test("relationships in IAM are removed with the types that the service may read and write", async () => {
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

  await engine.close();
  await database.close();
  await iam.stop();
  rmSync(folder, { recursive: true });
});
