/** The first owner where SpiceDB has the relationships. */
import { readFileSync } from "node:fs";
import type { SpicedbEngine } from "svc-access/authz";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type SpicedbServer,
  spicedbIsAbsent,
  startSpicedb,
} from "../../../../test/support/spicedb.ts";
import { makeLink } from "../../src/bootstrap/make-link.ts";
import { ZoneOwners } from "../../src/bootstrap/zone-owners.ts";
import type { LoadedIamConfig } from "../../src/config/load-iam-config.ts";
import { FIRST, linkOf, ownersOf, send } from "../support/bootstrap.ts";
import { type IamService, startIam } from "../support/iam-service.ts";

const MODEL = new URL("../../../../model/iam.zed", import.meta.url).pathname;

describe.skipIf(spicedbIsAbsent())("with SpiceDB", () => {
  let spicedb: SpicedbServer;
  let iam: IamService;
  beforeAll(async () => {
    spicedb = await startSpicedb();
    const { endpoint, token } = spicedb;
    const authz = { provider: "spicedb", spicedb: { endpoint, token, insecure: true } };
    iam = await startIam({ authz });
    await (iam.options.engine as SpicedbEngine).writeSchema(readFileSync(MODEL, "utf8"));
  });
  afterAll(async () => {
    await iam.stop();
    await spicedb.stop();
  });

  test("of several links that are used at once, one makes an owner", async () => {
    const links = await Promise.all(Array.from({ length: 4 }, () => linkOf(iam)));
    const sent = await Promise.all(
      links.map(({ token }, index) => send(iam, { ...FIRST, username: `root${index}`, token })),
    );
    expect(sent.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    expect(await ownersOf(iam)).toHaveLength(1);
    const { configuration } = iam.options;
    expect(await makeLink(configuration as LoadedIamConfig, "acme")).toBeUndefined();
  });

  test("an owner is made together with the mark of the link", async () => {
    const owners = new ZoneOwners(iam.options.engine as SpicedbEngine);
    const { signal } = new AbortController();
    expect(await owners.makeFirstOwner("marked", "alice", signal, "a-link")).toBe(true);
    expect(await owners.makeFirstOwner("marked", "alice", signal, "another")).toBe(false);
    const marks = () =>
      Promise.all(["a-link", "another"].map((mark) => owners.hasMark(mark, "alice", signal)));
    expect(await marks()).toEqual([true, false]);
    await owners.removeMark("a-link", "alice", signal);
    expect(await marks()).toEqual([false, false]);
    expect(await ownersOf(iam, "marked")).toEqual(["user:alice"]);
  });
});
