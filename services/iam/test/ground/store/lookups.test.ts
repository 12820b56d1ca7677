import { sql } from "svc-access/database";
import { expect, test } from "vitest";
import { sqlite } from "../../support/databases.ts";

test.each([
  ["the id", "model = 'Session' and id = 'x'"],
  ["the uid of a session", "model = 'Session' and uid = 'x'"],
  ["a user code", "model = 'DeviceCode' and user_code = 'x'"],
  ["the grant", "grant_id = 'x'"],
  ["the session", "session_uid = 'x'"],
  ["the account", "account_id = 'x'"],
  ["siblings", "model = 'RefreshToken' and parent_id = 'x' and id <> 'y'"],
  ["the time of expiry", "expire_time < 1"],
])("documents are found by an index: by %s", async (_, condition) => {
  const { kysely } = (await sqlite()).open();
  const { rows } = await sql<{ detail: string }>`explain query plan
    select * from iam_provider_documents where ${sql.raw(condition)}`.execute(kysely);
  expect(rows.map(({ detail }) => detail)).toEqual([
    expect.stringMatching(/^SEARCH iam_provider_documents USING (COVERING )?INDEX/),
  ]);
});
