import type { Addresses } from "./addresses.ts";
import type { Seeded } from "./state.ts";

/** A command for another shell, and what it shows. */
export interface CurlLine {
  readonly shows: string;
  readonly command: string;
}

/** Commands that need nothing but curl and sed, each by itself, in any order. */
export function curlLines({ iam, hub }: Addresses, seeded: Seeded): readonly CurlLine[] {
  const { users, account, project } = seeded;
  const url = `${hub}/v1/projects/${project}`;
  // An edge would name the caller: in development, services accept these headers of this machine.
  const as = (user: string) => `-H 'x-svc-external-sub: ${user}'`;
  const access = new URLSearchParams({
    "resource.type": "project",
    "resource.id": project,
    permission: "read",
    subject_type: "user",
  });
  const token = [
    `curl -s ${iam}/v1/iam/oidc/token -u ${account.id}:${account.secret}`,
    "-d grant_type=client_credentials",
    `| sed 's/.*"access_token":"//;s/".*//'`,
  ].join(" ");
  return [
    { shows: "401: the hub does not know who calls", command: `curl -sw '\\n' ${url}` },
    {
      shows: "200: carol may read the project, as a member of the group Engineers",
      command: `curl -sw '\\n' ${url} ${as(users.carol)}`,
    },
    { shows: "403: bob may not", command: `curl -sw '\\n' ${url} ${as(users.bob)}` },
    {
      shows: "200: alice, who owns the organization, asks svc-iam who may read it, and why",
      command: `curl -sw '\\n' '${iam}/v1/iam/admin/access?${access}' ${as(users.alice)}`,
    },
    {
      shows: "200: a service account gets a token for its secret, and asks who it is",
      command: `curl -sw '\\n' ${iam}/v1/iam/me -H "Authorization: Bearer $(${token})"`,
    },
  ];
}
