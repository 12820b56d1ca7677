/** The clients that all replicas share. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { AuditRecord } from "svc-access/runtime";
import { expect, test } from "vitest";
import { EncryptionKeys } from "../../../src/ground/secrets/encryption-keys.ts";
import { SecretBox } from "../../../src/ground/secrets/secret-box.ts";
import { saveDocument } from "../../../src/ground/store/document-rows.ts";
import { sealedPlace } from "../../../src/provider/embedded/adapter/sealed-documents.ts";
import type { ClientDeclaration } from "../../../src/provider/embedded/client-declaration.ts";
import { DeclaredClients } from "../../../src/provider/embedded/declared-clients.ts";
import { stackDatabase, type TestDatabase } from "../../support/databases.ts";

const client = (name: string, more: Partial<ClientDeclaration> = {}): ClientDeclaration => ({
  id: randomUUID(),
  name,
  flows: ["device"],
  redirectUris: [],
  postLogoutRedirectUris: [],
  asksConsent: true,
  ...more,
});
const newBox = () => new SecretBox(EncryptionKeys.parse(randomBytes(32).toString("base64")));
const OWN = client("Own", { secret: "another one at each start" });
const TV = client("TV");
const RADIO = client("Radio", { secret: "the secret of the radio" });

function replica(at: TestDatabase, box: SecretBox, clients: readonly ClientDeclaration[]) {
  const records: AuditRecord[] = [];
  const warnings: string[] = [];
  const declared = new DeclaredClients({
    own: { ...OWN, secret: randomUUID() },
    clients,
    database: at.open(),
    box,
    recorder: { record: async (event) => void records.push(event) },
    log: { warn: (_, message) => void warnings.push(message), error: () => undefined },
  });
  const changes = () =>
    records.splice(0).map(({ details }) => [details?.["client"], details?.["change"]]);
  return { declared, changes, warnings };
}

test("a replica follows what another one has applied, and its version says so [CMD-8]", async () => {
  const [at, box] = [await stackDatabase(), newBox()];
  const one = replica(at, box, [TV]);
  const other = replica(at, box, [TV]);
  await one.declared.start();
  await other.declared.start();
  expect(one.changes()).toEqual([
    [OWN.id, "added"],
    [TV.id, "added"],
  ]);
  expect(other.changes()).toEqual([]);
  const before = await other.declared.refresh();
  expect(await other.declared.refresh()).toBe(before);

  expect(await one.declared.plan([RADIO])).toMatchObject([
    { id: RADIO.id, change: "added" },
    { id: TV.id, change: "removed", name: "TV" },
  ]);
  await one.declared.apply([RADIO]);
  expect(await other.declared.refresh()).not.toBe(before);
  expect(other.declared.declared).toEqual([RADIO]);
  expect(other.declared.all.map(({ name }) => name)).toEqual(["Own", "Radio"]);
  const rotated = { ...RADIO, secret: "another secret of the radio" };
  expect(await other.declared.plan([rotated])).toEqual([
    { id: RADIO.id, name: "Radio", change: "changed", fields: ["secret"] },
  ]);
});

test("a replica without the key of another one keeps its clients, and says what is missing [CMD-8]", async () => {
  const [at, box] = [await stackDatabase(), newBox()];
  const one = replica(at, box, [TV]);
  await one.declared.start();
  const version = await one.declared.refresh();
  await replica(at, newBox(), [TV, RADIO]).declared.start();
  expect(await one.declared.refresh()).toBe(version);
  expect(one.declared.declared).toEqual([TV]);
  expect(one.warnings).toEqual([
    "the clients of another replica cannot be read: an encryption key is missing in iam.encryption_key_file",
  ]);
});

test("a replica keeps its clients where all rows are gone, and says how they come back [CMD-8]", async () => {
  const [at, box] = [await stackDatabase(), newBox()];
  const one = replica(at, box, [TV]);
  await one.declared.start();
  const version = await one.declared.refresh();
  await at.open().kysely.deleteFrom("iam_provider_documents").execute();
  expect(await one.declared.refresh()).toBe(version);
  expect(one.declared.declared).toEqual([TV]);
  expect(one.warnings).toEqual([
    expect.stringContaining("restart the service, or run svc-iam client apply"),
  ]);
  // None is something else.
  await one.declared.apply([]);
  expect(await one.declared.refresh()).not.toBe(version);
  expect(one.declared.declared).toEqual([]);
});

test("clients that an earlier version has stored by their digests are not another one [IAM-14]", async () => {
  const [at, box] = [await stackDatabase(), newBox()];
  const { secret: _, ...own } = OWN;
  for (const one of [own, TV]) {
    const digest = createHash("sha256").update(JSON.stringify(one)).digest("base64url");
    await saveDocument(at.open().kysely, {
      model: "AppliedClient",
      id: one.id,
      payload: box.seal(digest, sealedPlace("AppliedClient", one.id)),
      expire_time: Number.MAX_SAFE_INTEGER,
      grant_id: null,
      uid: null,
      user_code: null,
      session_uid: null,
      account_id: null,
      parent_id: null,
    });
  }
  const started = replica(at, box, [TV]);
  await started.declared.start();
  expect(started.changes()).toEqual([]);
  await started.declared.refresh();
  expect(started.declared.declared).toEqual([TV]);
});
