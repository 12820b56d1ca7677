import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { LEASE_MS } from "../../../../src/authz/spicedb/client/channel.ts";
import { spicedbIsAbsent } from "../../../support/spicedb.ts";
import { SCHEMA, updates, useSpicedb } from "../fixture.ts";

describe.skipIf(spicedbIsAbsent())("a watch without changes", () => {
  const spicedb = useSpicedb(SCHEMA);

  test("outlives its stream, which SpiceDB's client ends after 30 seconds", async () => {
    const changes = spicedb.engine.watch()[Symbol.asyncIterator]();
    const first = changes.next();
    await sleep(LEASE_MS + 1000);
    const write = updates("TOUCH", "document:d#viewer@user:alice");
    await spicedb.engine.writeRelationships({ updates: write });
    expect((await first).value.updates).toEqual(write);
    await changes.return?.(undefined);
  });
});
