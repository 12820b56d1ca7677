import { expect, test } from "vitest";
import {
  type PublishedRevocation,
  RevocationFollower,
} from "../../src/sessions/follow-revocations.ts";
import { Revocations } from "../../src/sessions/revocations.ts";
import { ProviderDatabase } from "../../src/store/provider-database.ts";
import { sqlite } from "../support/databases.ts";

test("what this process revokes is published at once, and what others revoke within a moment", async () => {
  const { open } = await sqlite();
  const [here, there] = [open(), open()].map(
    (database) => new Revocations(new ProviderDatabase(database)),
  ) as [Revocations, Revocations];
  await there.revoke({ kind: "jti", value: "before" });
  const published: PublishedRevocation[] = [];
  const follower = new RevocationFollower(here, (one) => void published.push(one));
  expect(follower.isCurrent).toBe(false);
  await follower.look();
  expect(published).toMatchObject([{ tokenId: "before" }]);
  expect(follower.isCurrent).toBe(true);
  const end = new AbortController();
  const running = follower.run(end.signal, (error) => expect.fail(String(error)));
  await here.revoke({ kind: "sid", value: "own" });
  await there.revoke({ kind: "subject", value: "alice", subjectType: "user" });
  await expect
    .poll(() => published.slice(1))
    .toMatchObject([
      { sessionId: "own" },
      { subject: { type: "user", id: "alice", issuedUntil: expect.any(Number) } },
    ]);
  end.abort();
  await running;
});

test("while the database fails, what is published is not all", async () => {
  const failing = { kind: "sqlite", kysely: {} } as never;
  const revocations = new Revocations(new ProviderDatabase(failing));
  const follower = new RevocationFollower(revocations, () => undefined);
  const failures: unknown[] = [];
  const end = new AbortController();
  const running = follower.run(end.signal, (error) => void failures.push(error));
  await expect.poll(() => failures.length).toBeGreaterThan(0);
  expect(follower.isCurrent).toBe(false);
  end.abort();
  await running;
});
