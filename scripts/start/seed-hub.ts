import { callJson, mustCall } from "./json-call.ts";
import { ORGANIZATION, type PlatformPlan } from "./programs.ts";
import { callerHeaders, type SeededIam } from "./seed-iam.ts";
import { untilTrue } from "./until-ready.ts";

const NAME = "Rollout";

/**
 * Makes a project with the API of the hub, as alice, which the members of the group may read.
 *
 * @returns its number
 */
export async function seedHub(
  { addresses }: PlatformPlan,
  { users, group }: SeededIam,
  signal: AbortSignal,
): Promise<string> {
  const headers = callerHeaders(users.alice);
  const url = `${addresses.hub}/v1/projects`;
  let project = await knownProject(url, headers, signal);
  const isMade = async () => {
    if (project !== undefined) return true;
    const body = { organizationId: ORGANIZATION, displayName: NAME };
    const made = await callJson(url, { headers, body, signal });
    // Alice owns the organization once the hub has written what it begins with.
    if (made.status === 200) project = made.body.projectId ?? made.body.project?.projectId;
    return project !== undefined;
  };
  await untilTrue(isMade, () => "alice may not create projects in the hub", signal);
  await mustCall(`${addresses.hub}/v1/authz/projects/${project}/members:grant`, {
    headers,
    body: { role: "ROLE_VIEWER", groupId: group },
    signal,
  });
  return `${project}`;
}

/** A caller who may read no project yet is refused. */
async function knownProject(
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { status, body } = await callJson(url, { headers, signal });
  const projects = status === 200 ? (body.projects ?? []) : [];
  return projects.find(({ displayName }: { displayName: string }) => displayName === NAME)
    ?.projectId;
}
