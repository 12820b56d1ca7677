import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { EncryptionKeys } from "../../../src/ground/secrets/encryption-keys.ts";
import { rewrap, rowName, type SealedColumn } from "../../../src/ground/secrets/rewrap.ts";
import { SecretBox } from "../../../src/ground/secrets/secret-box.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";

const columns: readonly SealedColumn[] = [
  { table: "iam_provider_documents", column: "payload", key: ["model", "id"] },
];
const line = () => randomBytes(32).toString("base64");
const [old, next] = [line(), line()];
const boxOf = (...lines: string[]) => new SecretBox(EncryptionKeys.parse(lines.join("\n")));
const placeOf = (id: string) => ({
  table: "iam_provider_documents",
  column: "payload",
  row: rowName(["Grant", id]),
});

describe.each([
  ["SQLite", async () => sqlite],
  ["PostgreSQL", postgres],
] as const)("re-wrapping in %s", async (_, prepare) => {
  const create: (() => Promise<TestDatabase>) | undefined = await prepare();
  if (create === undefined) return;

  test("encrypts all values with the first key, and leaves those that it cannot open", async () => {
    const { kysely } = (await create()).open();
    const written = boxOf(old);
    const ids = Array.from({ length: 450 }, (_, index) => `grant ${index}`);
    for (const id of ids) {
      const payload = written.seal(`{"id":"${id}"}`, placeOf(id));
      await kysely.insertInto("iam_provider_documents").values(rowOf(id, payload)).execute();
    }
    const foreign = boxOf(line()).seal("{}", placeOf("foreign"));
    await kysely.insertInto("iam_provider_documents").values(rowOf("foreign", foreign)).execute();

    const both = boxOf(next, old);
    const result = await rewrap({ kysely }, both, columns);
    expect(result).toEqual({
      rewrapped: 450,
      unopened: 1,
      reason: expect.stringContaining("which is not in iam.encryption_key_file"),
    });
    const rows = await kysely.selectFrom("iam_provider_documents").selectAll().execute();
    const only = boxOf(next);
    for (const { id, payload } of rows) {
      if (id === "foreign") expect(payload).toBe(foreign);
      else expect(only.open(payload, placeOf(id))).toBe(`{"id":"${id}"}`);
    }
    expect(await rewrap({ kysely }, both, columns)).toMatchObject({ rewrapped: 0, unopened: 1 });
  });
});

function rowOf(id: string, payload: string) {
  return {
    model: "Grant",
    id,
    grant_id: id,
    uid: null,
    user_code: null,
    session_uid: null,
    account_id: null,
    payload,
    expire_time: 0,
    consumed_time: null,
    parent_id: null,
    ended_time: null,
  };
}
