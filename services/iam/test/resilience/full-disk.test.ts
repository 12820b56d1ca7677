/**
 * The disk is full at each step of a creation or deletion: with a little more space each time, the next step fails.
 * What was acknowledged stays, what was refused can be repeated, and in the end nothing dangles.
 */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Relationship } from "svc-access/authz";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IS_THOROUGH } from "../../../../test/support/effort.ts";
import { until } from "../../../../test/support/until.ts";
import { write } from "../rights/rights-engine.ts";
import { databaseOf } from "../support/browser-login.ts";
import {
  type Answer,
  asUser,
  type IamService,
  INTERNAL_TOKEN,
  startIam,
} from "../support/iam-service.ts";
import { mountSmallDisk, type SmallDisk } from "./small-disk.ts";
import { SYSTEM_TOKEN, stoppedOperations } from "./stopped-operations.ts";

const PAST = 3_600_000;
const STEP = IS_THOROUGH ? 1 : 5;
/** More pages than any operation writes. */
const MOST_PAGES = 300;
const { signal } = new AbortController();

const disk = mountSmallDisk(64);
afterAll(() => disk?.remove());
if (disk === undefined) test.skip("a full disk: only root can mount one", () => undefined);
else describe("a full disk", () => tests(disk));

function tests(disk: SmallDisk): void {
  let iam: IamService;
  beforeAll(async () => {
    writeFileSync(join(disk.folder, "encryption-key"), randomBytes(32).toString("base64"));
    iam = await startIam({
      folder: disk.folder,
      logLevel: "silent",

      authn: {
        internal_call: {
          enabled: true,
          token: [{ service: "hub", token: INTERNAL_TOKEN }],
          system_token: SYSTEM_TOKEN,
        },
      },
    });
    await write(engine(), "zone:acme#owner@user:root");
  });
  afterAll(() => iam.stop());

  const engine = () => iam.options.engine as NonNullable<IamService["options"]["engine"]>;
  const operations = stoppedOperations(() => iam);

  /** The minute after which a call counts as ended whose end could not be stored. */
  async function letTimePass(): Promise<void> {
    await databaseOf(iam).kysely.updateTable("iam_owner_claims").set({ expire_time: 0 }).execute();
    const database = databaseOf(iam).as<{ idempotency_keys: { run_until: number } }>();
    await database.kysely.updateTable("idempotency_keys").set({ run_until: 0 }).execute();
  }

  /** Repeats a call that was limited by its rate. */
  async function untilAnswered(act: () => Promise<Answer>) {
    let answer: Answer | undefined;
    await until(
      () => `the call is answered: ${JSON.stringify(answer)}`,
      async () => {
        answer = await act();
        return answer.status !== 429;
      },
    );
    return answer as Answer;
  }

  test.each(Object.entries(operations))(
    "stops %s at any step: it can be repeated, and nothing that was acknowledged is lost [IAM-13]",
    async (name, begin) => {
      const seen: string[] = [];
      let failures = 0;
      for (let pages = 0; ; pages += STEP) {
        expect(pages, seen.slice(-3).join()).toBeLessThan(MOST_PAGES);
        const operation = await begin();
        disk.fill(pages);
        const answer = await untilAnswered(operation.act);
        const zone = "/v1/iam/organizations/acme";
        expect((await iam.call("GET", zone, undefined, asUser("nobody"))).status).toBeOneOf([
          403, 503,
        ]);
        expect((await iam.call("GET", zone, undefined, asUser("root"))).status).toBeOneOf([
          200, 503,
        ]);
        disk.free();
        seen.push(`${pages}: ${JSON.stringify(answer)}`);
        if (answer.status === 200) {
          expect(await operation.isDone()).toBe(true);
          break;
        }
        failures++;
        expect(answer, seen.slice(-3).join()).toMatchObject({
          status: 503,
          body: { code: "UNAVAILABLE" },
        });
        // What is left to the jobs is not repeated.
        if (failures % 2 === 0) continue;
        await letTimePass();
        const again = await untilAnswered(operation.act);
        expect(again.status, `${name} ${seen.slice(-1)}: ${JSON.stringify(again)}`).toBeOneOf([
          200,
          ...operation.again,
        ]);
        expect(await operation.isDone()).toBe(true);
      }
      expect(failures).toBeGreaterThan(0);
    },
  );

  test("leaves nothing that dangles, once its jobs have run [IAM-13]", async () => {
    const { kysely } = databaseOf(iam);
    await until("all that was begun has ended", async () => {
      await kysely
        .updateTable("iam_groups")
        .set(({ eb }) => ({ state_time: eb("state_time", "-", PAST) }))
        .execute();
      await kysely
        .updateTable("iam_removals")
        .set(({ eb }) => ({
          due_time: eb("due_time", "-", PAST),
          empty_time: eb("empty_time", "-", PAST),
        }))
        .execute();
      await kysely
        .updateTable("iam_organization_creations")
        .set(({ eb }) => ({ begin_time: eb("begin_time", "-", PAST) }))
        .execute();
      for (const { name, run } of iam.options.jobs ?? []) {
        if (["removals", "unfinished_groups", "unfinished_organizations"].includes(name))
          await run(signal);
      }
      const groups = await kysely
        .selectFrom("iam_groups")
        .select("id")
        .where("state", "<>", "ready")
        .execute();
      return (
        groups.length === 0 &&
        (await kysely.selectFrom("iam_removals").select("id").execute()).length === 0
      );
    });
    const idsOf = async (table: "iam_groups" | "iam_users") =>
      new Set((await kysely.selectFrom(table).select("id").execute()).map(({ id }) => id));
    const organizations = await kysely
      .selectFrom("iam_organizations")
      .select("id")
      .where("deleted_time", "is", null)
      .execute();
    const known = {
      group: (await idsOf("iam_groups")).add("some"),
      user: (await idsOf("iam_users")).add("root"),
      zone: new Set(organizations.map(({ id }) => id)),
      project: new Set(["site"]),
    };
    const dangling = (await all()).filter(({ resource, subject }) =>
      [resource, subject].some(({ type, id }) => !known[type as keyof typeof known].has(id)),
    );
    expect(dangling).toEqual([]);
  });

  async function all(): Promise<Relationship[]> {
    const found: Relationship[] = [];
    let cursor: string | undefined;
    do {
      const read = await engine().readRelationships({}, cursor === undefined ? {} : { cursor });
      found.push(...read.items);
      cursor = read.nextCursor;
    } while (cursor !== undefined);
    return found;
  }
}
