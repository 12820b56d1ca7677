import type { Row, Targets } from "./row.ts";

const SERVICE = "IAMServiceAccountService";
const MANAGES_USERS = ["owner", "admin", "user_manager"] as const;
const VIEWS_USERS = [...MANAGES_USERS, "user_viewer"] as const;

/** The rows of what takes over a service account or interrupts it. */
function onAccounts(
  name: string,
  more: (targets: Targets) => object = () => ({}),
  rest: Pick<Row, "code"> = {},
): Row[] {
  const rpc = `${SERVICE}/${name}`;
  const on = (account: (targets: Targets) => string) => (targets: Targets) => ({
    serviceAccountId: account(targets),
    ...more(targets),
  });
  return [
    { rpc, ...rest, request: on(({ account }) => account), allowed: MANAGES_USERS },
    {
      rpc,
      ...rest,
      about: "an admin of the zone",
      request: on(({ adminAccount }) => adminAccount),
      allowed: ["owner", "admin"],
    },
    {
      rpc,
      ...rest,
      about: "an owner of the zone",
      request: on(({ ownerAccount }) => ownerAccount),
      allowed: ["owner"],
    },
  ];
}

const NOT_FOUND = { code: "not_found" } as const;

/** The part of the table that is about service accounts. */
export const SERVICE_ACCOUNT_ROWS: readonly Row[] = [
  { rpc: `${SERVICE}/ListServiceAccounts`, request: () => ({}), allowed: VIEWS_USERS },
  {
    rpc: `${SERVICE}/GetServiceAccount`,
    request: ({ ownerAccount }) => ({ serviceAccountId: ownerAccount }),
    allowed: VIEWS_USERS,
  },
  {
    rpc: `${SERVICE}/ListServiceAccountKeys`,
    request: ({ ownerAccount }) => ({ serviceAccountId: ownerAccount }),
    allowed: VIEWS_USERS,
  },
  {
    rpc: `${SERVICE}/CreateServiceAccount`,
    request: () => ({ displayName: "Robot" }),
    allowed: MANAGES_USERS,
  },
  {
    rpc: `${SERVICE}/UpdateServiceAccount`,
    about: "the name of an owner of the zone",
    request: ({ ownerAccount }) => ({
      serviceAccountId: ownerAccount,
      serviceAccount: { displayName: "Another" },
    }),
    allowed: MANAGES_USERS,
  },
  ...onAccounts("UpdateServiceAccount", () => ({
    serviceAccount: { audience: ["urn:acme:notes"] },
  })).map((row) => ({ ...row, about: `the audience${row.about ? ` of ${row.about}` : ""}` })),
  ...onAccounts("DisableServiceAccount"),
  ...onAccounts("EnableServiceAccount"),
  ...onAccounts("DeleteServiceAccount"),
  ...onAccounts("CreateServiceAccountKey"),
  ...onAccounts("DeleteServiceAccountKey", () => ({ keyId: "unknown" }), NOT_FOUND),
];
