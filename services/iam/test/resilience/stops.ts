/** What happens to creations and deletions that are stopped at each of their steps. */
import type { Relationship } from "svc-access/authz";
import { expect, test } from "vitest";
import { until } from "../../../../test/support/until.ts";
import type { IamTables } from "../../src/ground/store/tables.ts";
import { removalsIn } from "../ground/removals/pending-removals.ts";
import { databaseOf } from "../support/browser-login.ts";
import { type Answer, asUser, type IamService } from "../support/iam-service.ts";
import { stoppedOperations } from "./stopped-operations.ts";

const PAST = 3_600_000;
const { signal } = new AbortController();

/** What stops operations. */
export interface Stop {
  /** Stops at a step what begins now: the greater the number is, the later. */
  begin(at: number): void;
  /** Everything works again. */
  end(): void;
}

/**
 * Tests each operation with each stop, at a running service whose zone the user root owns.
 *
 * @param step how much later the next stop is
 * @param most more than any operation needs
 */
export function testStops(
  service: () => IamService,
  stop: Stop,
  { step, most }: { readonly step: number; readonly most: number },
): void {
  const engine = () => service().options.engine as NonNullable<IamService["options"]["engine"]>;
  const operations = stoppedOperations(service);

  /** The minute after which a call counts as ended whose end could not be stored. */
  async function letTimePass(): Promise<void> {
    await databaseOf(service())
      .kysely.updateTable("iam_owner_claims")
      .set({ expire_time: 0 })
      .execute();
    const database = databaseOf(service()).as<{ idempotency_keys: { run_until: number } }>();
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
      for (let at = 0; ; at += step) {
        expect(at, seen.slice(-3).join()).toBeLessThan(most);
        const operation = await begin();
        stop.begin(at);
        const answer = await untilAnswered(operation.act);
        const zone = "/v1/iam/organizations/acme";
        expect((await service().call("GET", zone, undefined, asUser("nobody"))).status).toBeOneOf([
          403, 503,
        ]);
        expect((await service().call("GET", zone, undefined, asUser("root"))).status).toBeOneOf([
          200, 503,
        ]);
        stop.end();
        seen.push(`${at}: ${JSON.stringify(answer)}`);
        if (answer.status === 200) {
          expect(await operation.isDone()).toBe(true);
          break;
        }
        failures++;
        expect(answer, seen.slice(-3).join()).toMatchObject({
          status: 503,
          body: { code: "UNAVAILABLE" },
        });
        // Half of it would fail here.
        await operation.isDone();
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
    const { kysely } = databaseOf(service()).as<IamTables>();
    const removals = removalsIn(databaseOf(service()));
    await until("all that was begun has ended", async () => {
      await kysely
        .updateTable("iam_groups")
        .set(({ eb }) => ({ state_time: eb("state_time", "-", PAST) }))
        .execute();
      await removals
        .updateTable("pending_removals")
        .set(({ eb }) => ({
          due_time: eb("due_time", "-", PAST),
          empty_time: eb("empty_time", "-", PAST),
        }))
        .execute();
      await kysely
        .updateTable("iam_organization_creations")
        .set(({ eb }) => ({ begin_time: eb("begin_time", "-", PAST) }))
        .execute();
      for (const { name, run } of service().options.jobs ?? []) {
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
        (await removals.selectFrom("pending_removals").select("id").execute()).length === 0
      );
    });
    const idsOf = async (table: "iam_groups" | "iam_users" | "iam_service_accounts") =>
      new Set((await kysely.selectFrom(table).select("id").execute()).map(({ id }) => id));
    const organizations = await kysely
      .selectFrom("iam_organizations")
      .select("id")
      .where("deleted_time", "is", null)
      .execute();
    const keys = await kysely.selectFrom("iam_service_account_keys").select("account_id").execute();
    const known = {
      group: (await idsOf("iam_groups")).add("some"),
      user: (await idsOf("iam_users")).add("root"),
      service_account: await idsOf("iam_service_accounts"),
      zone: new Set(organizations.map(({ id }) => id)),
      project: new Set(["site"]),
    };
    const dangling = (await all()).filter(({ resource, subject }) =>
      [resource, subject].some(({ type, id }) => !known[type as keyof typeof known].has(id)),
    );
    expect(dangling).toEqual([]);
    for (const { account_id } of keys) expect(known.service_account).toContain(account_id);
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
