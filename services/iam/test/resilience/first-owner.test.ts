/** Processes that are killed while they make the first owner, each held at a step by a lock of the database. */
import { once } from "node:events";
import { Client } from "pg";
import { afterAll, expect, test } from "vitest";
import { IS_THOROUGH } from "../../../../test/support/effort.ts";
import { query } from "../../../../test/support/postgres.ts";
import { until } from "../../../../test/support/until.ts";
import { FIRST } from "../support/bootstrap.ts";
import { logInAt } from "../support/log-in-at.ts";
import { me } from "./load.ts";
import { onPlatform, startPlatform } from "./platform.ts";

const PATH = "/v1/iam/ui/bootstrap";

// The tests of links kill no process, and take a second.
const platform = IS_THOROUGH ? await startPlatform({ isOwned: false }) : undefined;
afterAll(() => platform?.stop());

onPlatform("the first owner", platform, (platform) => {
  const { replicas, databaseUrl, owners } = platform;
  const [first, second] = replicas;
  const count = async (table: string): Promise<number> => {
    const [row] = await query(databaseUrl, `select count(*)::int as rows from svc_access.${table}`);
    return row?.["rows"] as number;
  };
  const tokenOf = (link: string) => new URL(link.trim()).searchParams.get("token") ?? "";
  const submit = (token: string) =>
    fetch(`http://127.0.0.1:${first.port}${PATH}`, {
      method: "POST",
      body: new URLSearchParams({ ...FIRST, token }),
    }).then(
      ({ status }) => status,
      () => "the connection broke",
    );

  /** Lets nobody write to a table. */
  async function hold(table: string) {
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query("begin");
    await client.query(`lock table svc_access.${table} in share row exclusive mode`);
    return {
      isAwaited: async () => {
        const waiting = `select 1 from pg_locks where not granted
          and relation = 'svc_access.${table}'::regclass`;
        return (await query(databaseUrl, waiting)).length > 0;
      },
      release: () => client.end(),
    };
  }

  test("can be made with another link if the command was killed before it printed its own", async () => {
    const lock = await hold("audit_events");
    const child = first.begin("bootstrap");
    let printed = "";
    child.stdout.on("data", (chunk: Buffer) => void (printed += chunk));
    await until("the link is stored", async () => (await count("iam_bootstrap_links")) === 1);
    await until("its event is not", lock.isAwaited);
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    await lock.release();
    expect(printed).toBe("");
    const { status, stdout } = await first.run("bootstrap");
    expect(status).toBe(0);
    const link = `http://127.0.0.1:${first.port}${PATH}?token=${tokenOf(stdout)}`;
    expect((await fetch(link)).status).toBe(200);
    expect([await owners(), await count("iam_users")]).toEqual([[], 0]);
  });

  test("is one, and whole, if the process is killed between the owner and the user [IDP-8]", async () => {
    const { stdout } = await first.run("bootstrap");
    const token = tokenOf(stdout);
    // The job of the other one would continue at once.
    await second.kill();
    const lock = await hold("iam_users");
    const sent = submit(token);
    await until("the zone has an owner", async () => (await owners()).length === 1);
    await until("its user is not stored", lock.isAwaited);
    await first.kill();
    expect(await sent).toBe("the connection broke");
    await lock.release();
    await until("its transaction has ended", async () => !(await isWriting()));
    expect(await count("iam_users")).toBe(0);
    const [owner] = await owners();

    // The link still works, or the job of the service was faster.
    for (const replica of replicas) await replica.start();
    expect([200, 404, 409]).toContain(await submit(token));
    await until("the user is stored", async () => (await count("iam_users")) === 1);
    const [user] = await query(databaseUrl, "select id, username from svc_access.iam_users");
    expect([`user:${user?.["id"]}`, user?.["username"]]).toEqual([owner, FIRST["username"]]);
    expect(await owners()).toEqual([owner]);
    const begun = "select 1 from svc_access.iam_bootstrap_links where pending is not null";
    expect(await query(databaseUrl, begun)).toEqual([]);
    // The same form leads to the same page; the link has ended.
    expect(await submit(token)).toBe(200);
    const link = `http://127.0.0.1:${first.port}${PATH}?token=${token}`;
    expect((await fetch(link)).status).toBe(409);
    expect(await first.run("bootstrap")).toEqual({ status: 1, stdout: "" });
    const tokens = await logInAt(platform, "root", FIRST["password"] ?? "");
    expect([await me(first, tokens), await me(second, tokens)]).toEqual([200, 200]);
    const used = "select 1 from svc_access.audit_events where type = 'bootstrap.used'";
    // Whoever continued has recorded it again.
    expect((await query(databaseUrl, used)).length).toBeGreaterThan(0);
  });

  /** Whether a transaction of a process that was killed is still open. */
  async function isWriting(): Promise<boolean> {
    const open = `select 1 from pg_stat_activity
      where state <> 'idle' and query like '%iam_users%' and pid <> pg_backend_pid()`;
    return (await query(databaseUrl, open)).length > 0;
  }
});
