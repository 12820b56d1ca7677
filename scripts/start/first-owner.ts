import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { mustCall } from "./json-call.ts";
import { PlatformError } from "./platform-error.ts";
import { bootstrapProgram, ORGANIZATION, type PlatformPlan } from "./programs.ts";

const run = promisify(execFile);

/** The form of the first user. */
export interface FirstOwner {
  readonly username: string;
  readonly display_name: string;
  readonly email: string;
  readonly password: string;
}

/**
 * Makes the first owner of the zone by a link, as a person does, unless the zone has one.
 *
 * @returns the id of the owner
 */
export async function makeFirstOwner(
  plan: PlatformPlan,
  owner: FirstOwner,
  signal: AbortSignal,
): Promise<string> {
  const known = await ownerId(plan, signal);
  if (known !== undefined) return known;
  await sendForm(await bootstrapLink(plan, signal), owner, signal);
  const made = await ownerId(plan, signal);
  if (made === undefined) throw new PlatformError(`the zone ${ORGANIZATION} has no owner`);
  return made;
}

async function bootstrapLink(plan: PlatformPlan, signal: AbortSignal): Promise<string> {
  const { main, args = [], environment } = bootstrapProgram(plan);
  const { stdout } = await run(process.execPath, [main, ...args], {
    env: { ...process.env, ...environment },
    signal,
  });
  return JSON.parse(stdout).url;
}

async function sendForm(link: string, owner: FirstOwner, signal: AbortSignal): Promise<void> {
  const page = await (await fetch(link, { signal })).text();
  const hidden = [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  const body = new URLSearchParams({ ...owner, repeated: owner.password });
  for (const [, name = "", value = ""] of hidden) body.set(name, value);
  const { origin, pathname } = new URL(link);
  const response = await fetch(`${origin}${pathname}`, { method: "POST", body, signal });
  await response.arrayBuffer();
  if (response.status === 200) return;
  throw new PlatformError(`the form of the first user: ${response.status}; see the logs`);
}

/** The user who owns the zone, as svc-iam reports it to the hub. */
async function ownerId(
  { addresses, tokens }: PlatformPlan,
  signal: AbortSignal,
): Promise<string | undefined> {
  const query = new URLSearchParams({
    "resource.type": "zone",
    "resource.id": ORGANIZATION,
    permission: "owner",
    subject_type: "user",
  });
  const { subjects = [] } = await mustCall(
    `${addresses.iam}/v1/iam/permissions:lookupSubjects?${query}`,
    { headers: { "X-Svc-Internal-Token": tokens.iam }, signal },
  );
  return subjects[0]?.subjectId;
}
