/**
 * Pages of `GET /v1/users` of svc-iam over a million users in SQLite, beside the bare query in a process of its
 * own, by processor time. `node bench/iam/user-pages.ts` runs it alone.
 */
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createAuthorizationEngine } from "svc-access/runtime";
import { LIST_USERS } from "../../services/iam/src/api/users/user-message.ts";
import { loadIamConfig } from "../../services/iam/src/config/load-iam-config.ts";
import { PageTokens } from "../../services/iam/src/ground/rpc/paging.ts";
import { SealedTokens } from "../../services/iam/src/ground/rpc/sealed-tokens.ts";
import { OutsideValues } from "../../services/iam/src/ground/secrets/outside-values.ts";
import { readEncryptionKeys } from "../../services/iam/src/ground/secrets/read-encryption-keys.ts";
import { SecretBox } from "../../services/iam/src/ground/secrets/secret-box.ts";
import { besidePinned } from "../pinning.ts";
import { note } from "../verdict.ts";
import { type BenchIam, startIam } from "./iam-service.ts";
import { addUsers, placeOf, userNameAt } from "./many-users.ts";
import { startPeer } from "./peer-process.ts";
import { compareRates, type Side } from "./rounds.ts";

const USERS = 1_000_000;
const ROUNDS = 11;
const AT_ONCE = 8;
/** A page takes at most five times as long as the bare query of its rows, all columns included. */
const LIMIT = 0.2;
const VIEWER = "viewer";
/** What is read in a round. */
const PAGES = [
  { size: 50, pages: 800 },
  { size: 1000, pages: 80 },
] as const;

/** Prints the ratios. */
export async function benchIamUsers(): Promise<void> {
  process.stdout.write(`\niam-users: pages of GET /v1/users over ${USERS} users\n`);
  await besidePinned(async () => {
    let folder = "";
    const iam = await startIam(0, async (relationships) => {
      folder = dirname(relationships);
      addUsers(folder, USERS);
      await letView(folder);
    });
    try {
      for (const page of PAGES) await compare(iam, folder, page);
    } finally {
      await iam.stop();
    }
  });
}

async function compare(
  iam: BenchIam,
  folder: string,
  { size, pages }: (typeof PAGES)[number],
): Promise<void> {
  const peer = await startPeer("node:sqlite", join(folder, "iam.db"), size, USERS);
  const tokens = tokensOf(folder);
  const own: Side = { pid: iam.pid, work: () => readPages(iam, { tokens, size, pages }) };
  const bare: Side = {
    pid: peer.child.pid,
    async work() {
      peer.child.send(pages);
      await once(peer.child, "message");
      return pages;
    },
  };
  try {
    await own.work();
    await bare.work();
    await compareRates(`a page of ${size} users / the bare query`, {
      own,
      peer: bare,
      rounds: ROUNDS,
      limit: LIMIT,
      // The load takes longer than the query: the service would wait for it.
      by: "cpu",
    });
    note(`  of ${pages} pages in a round, ${AT_ONCE} at once`);
  } finally {
    peer.child.kill();
  }
}

/** The page tokens of the service, sealed with its key. */
function tokensOf(folder: string): PageTokens {
  const keys = readEncryptionKeys({ file: join(folder, "key"), environment: "production" });
  const values = new OutsideValues(new SecretBox(keys), { has() {}, add() {} });
  const caller = { subjectType: "user", subjectId: VIEWER };
  return new PageTokens(new SealedTokens(values, LIST_USERS, caller));
}

interface Reads {
  readonly tokens: PageTokens;
  readonly size: number;
  readonly pages: number;
}

async function readPages(iam: BenchIam, { tokens, size, pages }: Reads): Promise<number> {
  let next = 0;
  const read = async (): Promise<void> => {
    for (let page = next++; page < pages; page = next++) {
      const token = tokens.after(userNameAt(placeOf(page, USERS)));
      const url = `http://127.0.0.1:${iam.port}/v1/users?page_size=${size}&page_token=${token}`;
      const response = await fetch(url, {
        headers: {
          "x-svc-auth-verified": "true",
          "x-svc-user-id": VIEWER,
          "x-svc-org-id": "acme",
        },
      });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${response.status} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, read));
  return pages;
}

async function letView(folder: string): Promise<void> {
  const { config } = loadIamConfig(join(folder, "service.yaml"));
  const engine = await createAuthorizationEngine(config);
  const relationship = {
    resource: { type: "zone", id: "acme" },
    relation: "user_viewer",
    subject: { type: "user", id: VIEWER },
  };
  await engine.writeRelationships({ updates: [{ operation: "TOUCH", relationship }] });
  await engine.close();
}

if (import.meta.main) await benchIamUsers();
