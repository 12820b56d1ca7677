/** The ids of clients and users, which are one space of names in relations and in the audit. */
import type { ServiceDatabase } from "svc-access/database";
import { expect, test } from "vitest";
import type { ServiceAccountTables } from "../../../src/ground/store/service-account-tables.ts";
import type { IamTables } from "../../../src/ground/store/tables.ts";
import { ServiceAccounts } from "../../../src/people/accounts/service-accounts/service-accounts.ts";
import { addUser, databaseOf } from "../../support/browser-login.ts";
import { type IamService, startIam } from "../../support/iam-service.ts";

const FREE = "0b0c1f0e-5a53-4f6e-9d0e-6f1d5a3b8c11";
const robot = (id: string) => ({
  id,
  name: "Robot",
  flows: ["service_account"],
  client_secret: "a secret of the robot in the tests of ids",
});

async function userOf(iam: IamService, username: string): Promise<string> {
  await addUser(iam, username);
  const user = await usersOf(databaseOf(iam))
    .selectAll()
    .where("username", "=", username)
    .executeTakeFirstOrThrow();
  return user.id;
}

const usersOf = ({ kysely }: ServiceDatabase<IamTables>) => kysely.selectFrom("iam_users");

test("a start with a client that has the id of a user or service account, or of a deleted one, is refused [IAM-14]", async () => {
  const iam = await startIam();
  const [alice, bob] = [await userOf(iam, "alice"), await userOf(iam, "bob")];
  const { kysely } = databaseOf(iam);
  await kysely.updateTable("iam_users").set({ deleted_time: 1 }).where("id", "=", bob).execute();
  const gone = "7d3c9a52-8f0e-4f57-8c67-0a4b8d7f2c10";
  const left = "3f1b2c52-8f0e-4f57-8c67-0a4b8d7f2c11";
  const former = [
    { type: "user", id: gone, deleted_time: 1 },
    { type: "service_account", id: left, deleted_time: 1 },
    { type: "group", id: FREE, deleted_time: 1 },
  ];
  await kysely.insertInto("iam_former_ids").values(former).execute();
  const accounts = new ServiceAccounts(databaseOf(iam).as<ServiceAccountTables>());
  const tables = kysely.$pickTables<"iam_service_accounts" | "iam_service_account_keys">();
  const { id: made } = await accounts.create(tables, { displayName: "Robot", audience: [] });
  await iam.stop();
  const { folder } = iam;
  const ids = [alice.toUpperCase(), FREE, bob, gone, made, left];
  const clients = ids.map(robot);
  const refused = startIam({ folder, iam: { clients } }).catch((error: unknown) => error);
  expect(await refused).toMatchObject({
    name: "StartUpError",
    problems: [
      `iam.clients[0].id is the id of a user, ${alice}: choose another UUID`,
      `iam.clients[2].id is the id of a user, ${bob}: choose another UUID`,
      `iam.clients[3].id is the id of a user, ${gone}: choose another UUID`,
      `iam.clients[4].id is the id of a service account, ${made}: choose another UUID`,
      `iam.clients[5].id is the id of a service account, ${left}: choose another UUID`,
    ],
  });
  const login = { client_id: alice };
  const oidc = { audience: [alice] };
  await expect(startIam({ folder, login, oidc })).rejects.toThrow(
    "iam.login.client_id is the id of",
  );
  const started = await startIam({ folder, iam: { clients: [robot(FREE)] } });
  await started.stop();
});
