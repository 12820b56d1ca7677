/** Every administrative RPC by everybody, over a socket. */
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { RelationshipUpdate } from "svc-access/authz";
import { afterAll, beforeAll, expect, test } from "vitest";
import { columnsOf } from "../../../../test/support/effort.ts";
import type { ServiceAccountTables } from "../../src/ground/store/service-account-tables.ts";
import { LocalAccounts } from "../../src/people/accounts/local-accounts.ts";
import { ServiceAccounts } from "../../src/people/accounts/service-accounts/service-accounts.ts";
import { databaseOf } from "../support/browser-login.ts";
import { asUser, type IamService, INTERNAL_TOKEN, startIam } from "../support/iam-service.ts";
import { CALLER_NAMES, type Caller, RELATIONS } from "./callers.ts";
import { ELSEWHERE, ROWS } from "./expected.ts";
import { administrationPage } from "./print-table.ts";
import type { Row, Targets } from "./row.ts";

const PAGE = new URL("../../../../docs/iam-access.md", import.meta.url);
const POLICIES = new URL("../../gen/policies.json", import.meta.url);
const READING_TOKEN = "the-internal-token-of-a-service-that-reads";
const OTHER_TOKEN = "the-internal-token-of-another-service";
const SYSTEM_TOKEN = "the-system-token-of-this-platform";
const PREFIX = "svc.iam.v1.";

let iam: IamService;
/** The ids of the callers that are users. */
const ids: Partial<Record<Caller, string>> = {};

beforeAll(async () => {
  iam = await startIam({
    authn: {
      internal_call: {
        enabled: true,
        token: [
          { service: "hub", token: INTERNAL_TOKEN },
          { service: "reader", token: READING_TOKEN },
          { service: "other", token: OTHER_TOKEN },
        ],
        system_token: SYSTEM_TOKEN,
      },
    },
    iam: {
      services: {
        hub: { read_types: ["project"], write_types: ["project"] },
        reader: { read_types: ["project"] },
      },
    },
  });
  for (const name of CALLER_NAMES) {
    if (name in RELATIONS || name === "nobody") ids[name] = await addUser();
  }
  await relate(["zone", "acme", "owner"], "service_account", "robot");
  for (const [name, relation] of Object.entries(RELATIONS)) {
    if (relation[0] !== "group") await relate(relation, "user", ids[name as Caller] ?? "");
  }
});
afterAll(() => iam.stop());

async function addUser(): Promise<string> {
  const accounts = new LocalAccounts(databaseOf(iam).kysely, "acme");
  const id = randomUUID();
  const username = `u${id}`;
  const email = `${username}@example.com`;
  await accounts.create({ username, displayName: username, email, passwordHash: "" }, id);
  return id;
}

function relate(
  [type, id, relation]: readonly [string, string, string],
  kind: string,
  who: string,
) {
  return write({ type, id }, relation, { type: kind, id: who });
}

async function write(
  resource: { type: string; id: string },
  relation: string,
  subject: { type: string; id: string },
): Promise<void> {
  const update: RelationshipUpdate = {
    operation: "TOUCH",
    relationship: { resource, relation, subject },
  };
  await iam.options.engine?.writeRelationships({ updates: [update] });
}

/** Finds out which targets a request names. */
const PROBE: Targets = {
  user: "\u0001user",
  adminUser: "\u0001admin",
  ownerUser: "\u0001owner",
  account: "\u0001account",
  adminAccount: "\u0001admin-account",
  ownerAccount: "\u0001owner-account",
  group: "\u0001group",
  caller: "",
  unique: "",
};

/** What one call names. */
async function targetsOf({ request }: Row, name: Caller): Promise<Targets> {
  const named = JSON.stringify(request(PROBE));
  const needs = (target: keyof Targets) => named.includes(JSON.stringify(PROBE[target]).slice(1));
  const targets = { ...PROBE, caller: ids[name] ?? "", unique: `x${randomUUID()}` };
  if (needs("user")) targets.user = await addUser();
  if (needs("adminUser")) {
    targets.adminUser = await addUser();
    await relate(["zone", "acme", "admin"], "user", targets.adminUser);
  }
  if (needs("ownerUser")) targets.ownerUser = await addOwner();
  if (needs("account")) targets.account = await addAccount();
  if (needs("adminAccount")) targets.adminAccount = await addAccount("admin");
  if (needs("ownerAccount")) targets.ownerAccount = await addAccount("owner");
  if (needs("group")) targets.group = await addGroup();
  const [type, , relation] = RELATIONS[name] ?? [];
  if (type === "group" && relation !== undefined && needs("group")) {
    await relate([type, targets.group, relation], "user", targets.caller);
  }
  return targets;
}

async function addOwner(): Promise<string> {
  const id = await addUser();
  await relate(["zone", "acme", "owner"], "user", id);
  return id;
}

/** A service account, with a relation to the zone. */
async function addAccount(relation?: string): Promise<string> {
  const database = databaseOf(iam).as<ServiceAccountTables>();
  const fields = { displayName: "Robot", audience: [] };
  const { id } = await new ServiceAccounts(database).create(database.kysely, fields);
  if (relation !== undefined) await relate(["zone", "acme", relation], "service_account", id);
  return id;
}

/** By an owner of its own, as each may make only so many in a second. */
async function addGroup(): Promise<string> {
  const path = "/v1/iam/organizations/acme/groups";
  const made = await iam.call("POST", path, { displayName: "Team" }, asUser(await addOwner()));
  return made.body.id;
}

function headersOf(name: Caller): Record<string, string> {
  switch (name) {
    case "service":
      return { "x-svc-internal-token": INTERNAL_TOKEN };
    case "reading_service":
      return { "x-svc-internal-token": READING_TOKEN };
    case "other_service":
      return { "x-svc-internal-token": OTHER_TOKEN };
    case "system":
      return { "x-svc-internal-token": SYSTEM_TOKEN };
    case "service_account":
      return { ...asUser("robot"), "x-svc-subject-type": "service_account" };
    case "stranger":
    case "other_admin":
    case "other_manager":
      return asUser(ids[name] ?? "", "evil");
    default:
      return asUser(ids[name] ?? "");
  }
}

/** Whether a call is allowed, by the error of the Connect protocol. */
async function isAllowed(row: Row, name: Caller): Promise<boolean> {
  const targets = await targetsOf(row, name);
  const answering = call(row, JSON.stringify(row.request(targets)), headersOf(name));
  if (row.isEndless) await actUntil(answering);
  const answer = await answering;
  if (answer === undefined || answer.code === row.code) return true;
  expect({ name, ...answer }).toMatchObject({
    code: expect.stringMatching(/^(permission_denied|unauthenticated)$/),
  });
  return false;
}

/** Does what is audited until a call is answered, which waits for events. */
async function actUntil(answering: Promise<unknown>): Promise<void> {
  let isAnswered = false;
  const settled = () => {
    isAnswered = true;
  };
  answering.then(settled, settled);
  while (!isAnswered) await addGroup();
}

/** The error of a call; undefined for a success, or the first response of a stream. */
async function call(
  { rpc, isStream }: Row,
  json: string,
  headers: Record<string, string>,
): Promise<{ code?: string } | undefined> {
  const response = await fetch(`${iam.origin}/${PREFIX}${rpc}`, {
    method: "POST",
    headers: {
      "Content-Type": isStream ? "application/connect+json" : "application/json",
      "Connect-Protocol-Version": "1",
      ...headers,
    },
    body: isStream ? envelope(json) : json,
  });
  if (!isStream) {
    const body = (await response.json()) as { code?: string };
    return response.ok ? undefined : body;
  }
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const { value = new Uint8Array() } = await reader.read();
  await reader.cancel();
  const isEnd = ((value[0] ?? 0) & 2) !== 0;
  return isEnd ? JSON.parse(Buffer.from(value.subarray(5)).toString()).error : undefined;
}

function envelope(json: string): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(json);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return new Uint8Array(Buffer.concat([head, bytes]));
}

test.each(ROWS)(
  "$rpc ($about) is allowed to whom the table says, and to nobody else [IAM-22]",
  async (row) => {
    const asked = columnsOf(CALLER_NAMES, ROWS.indexOf(row), 6);
    const allowed: Caller[] = [];
    for (const name of asked) if (await isAllowed(row, name)) allowed.push(name);
    expect(allowed).toEqual(asked.filter((name) => row.allowed.includes(name)));
  },
);

test("the table has every RPC of administration", () => {
  const policies = JSON.parse(readFileSync(POLICIES, "utf8"));
  const rpcs = rpcNames(policies).map((rpc) => rpc.slice(PREFIX.length));
  const known = new Set([...ROWS.map(({ rpc }) => rpc), ...ELSEWHERE]);
  const missing = rpcs.filter((rpc) => !known.has(rpc) && !known.has(rpc.split("/")[0] ?? ""));
  expect(missing).toEqual([]);
});

/** The full names of RPCs in a document of policies. */
function rpcNames(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) =>
    key.startsWith(PREFIX) && key.includes("/") ? [key] : rpcNames(below),
  );
}

test("docs/iam-access.md has the tested table", () => {
  const page = administrationPage();
  if (process.env["UPDATE_GOLDENS"] === "1") writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, "utf8")).toBe(page);
});
