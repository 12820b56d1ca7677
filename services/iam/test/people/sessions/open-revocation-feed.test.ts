/** A revocation reaches all within a second: none of its steps waits for a timer of as long. */
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { ProviderDatabase } from "../../../src/ground/store/provider-database.ts";
import { openRevocationFeed } from "../../../src/people/sessions/open-revocation-feed.ts";
import { Revocations } from "../../../src/people/sessions/revocations.ts";
import { sqlite } from "../../support/databases.ts";

/** No timer runs out, so what comes does not wait for one. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Two replicas; a service follows the first. */
async function replicas() {
  const { open } = await sqlite();
  const [here, there] = [open(), open()].map(
    (database) => new Revocations(new ProviderDatabase(database)),
  ) as [Revocations, Revocations];
  const opened = await openRevocationFeed(here);
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const responses = opened.feed.watch("", leaving.signal);
  /** The ids of the next response with revocations. */
  const next = async () => {
    for (;;) {
      const { value, done } = await responses.next();
      if (done === true) throw new Error("the watch has ended");
      const ids = value.revocations.map(({ revoked }) => String(revoked.value));
      if (ids.length > 0) return ids;
    }
  };
  const isRevoked = (sessionId: string) =>
    opened.feed.isRevoked({
      id: "t",
      sessionId,
      subject: "alice",
      subjectType: "user",
      iat: 1,
      issuedAt: 1,
    });
  return { here, there, opened, next, isRevoked };
}

test("one of this process counts, and is sent to services, at once [IDP-22]", async () => {
  const { here, next, isRevoked } = await replicas();
  const coming = next();
  await here.revoke({ kind: "sid", value: "s1" });
  expect(await coming).toEqual(["s1"]);
  expect(isRevoked("s1")).toBe(true);
});

test("one of another replica counts, and is sent, when the job runs next, several times a second [IDP-22]", async () => {
  const { there, opened, next, isRevoked } = await replicas();
  const [, count, unit] = /^(\d+)(ms|s)$/.exec(opened.job.every) ?? [];
  expect(Number(count) * (unit === "s" ? 1000 : 1)).toBeLessThanOrEqual(500);
  const coming = next();
  await there.revoke({ kind: "sid", value: "s1" });
  expect(isRevoked("s1")).toBe(false);
  await opened.job.run(new AbortController().signal);
  expect(isRevoked("s1")).toBe(true);
  expect(await coming).toEqual(["s1"]);
});
