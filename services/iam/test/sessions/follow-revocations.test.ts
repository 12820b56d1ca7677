import type { Revocation } from "svc-access/runtime";
import { expect, test } from "vitest";
import { RevocationFollower } from "../../src/sessions/follow-revocations.ts";
import { Revocations } from "../../src/sessions/revocations.ts";
import { ProviderDatabase } from "../../src/store/provider-database.ts";
import { sqlite } from "../support/databases.ts";

test("stored revocations are published, of this process and of others, each once", async () => {
  const { open } = await sqlite();
  const [here, there] = [open(), open()].map(
    (database) => new Revocations(new ProviderDatabase(database)),
  ) as [Revocations, Revocations];
  await there.revoke({ kind: "jti", value: "before" });
  const published: Revocation[] = [];
  const follower = new RevocationFollower(here, (one) => void published.push(one));
  expect(follower.isCurrent).toBe(false);
  await follower.look();
  expect(published).toMatchObject([{ tokenId: "before" }]);
  expect(follower.isCurrent).toBe(true);
  await here.revoke({ kind: "sid", value: "own" });
  await there.revoke({ kind: "subject", value: "alice", subjectType: "user" });
  await Promise.all([follower.look(), follower.look()]);
  expect(published.slice(1)).toMatchObject([
    { sessionId: "own" },
    { subject: { type: "user", id: "alice", issuedUntil: expect.any(Number) } },
  ]);
});

test("while the database fails, what is published is not all", async () => {
  const failing = { kind: "sqlite", kysely: {} } as never;
  const revocations = new Revocations(new ProviderDatabase(failing));
  const follower = new RevocationFollower(revocations, () => undefined);
  await expect(follower.look()).rejects.toThrow();
  expect(follower.isCurrent).toBe(false);
});
