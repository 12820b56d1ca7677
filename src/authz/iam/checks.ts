import { AuthzError } from "../engine/authz-error.ts";
import {
  type BulkCheckItem,
  type CheckRequest,
  type CheckResult,
  type ExplainResult,
  MAX_BULK_CHECKS,
  type Revision,
} from "../engine/requests.ts";
import type { StoppableCall } from "../engine/running-calls.ts";
import { invalid } from "../engine/validate-request.ts";
import { checkError } from "./map-error.ts";
import { fromSteps, toCheck } from "./messages.ts";
import type { IamSession } from "./session.ts";

/** The most checks of one RPC. */
const CHUNK = 2000;
/** How often the RPCs of one bulk check are made, until all are of one revision. */
const ATTEMPTS = 4;

/** Decides a check. */
export async function check(
  session: IamSession,
  request: CheckRequest,
  call: StoppableCall,
): Promise<CheckResult> {
  session.validator.check(request);
  const message = toCheck(request);
  const { allowed, revision } = await session.read(call, (consistency, options) =>
    session.calls.checkPermission({ ...message, ...given(consistency) }, options),
  );
  return { allowed, revision };
}

/** Decides a check, with its reasons. */
export async function explain(
  session: IamSession,
  request: CheckRequest,
  call: StoppableCall,
): Promise<ExplainResult> {
  session.validator.check(request);
  const message = toCheck(request);
  const { allowed, revision, steps } = await session.read(call, (consistency, options) =>
    session.calls.explainPermission({ ...message, ...given(consistency) }, options),
  );
  return { allowed, revision, explanation: fromSteps(steps) };
}

/** The decisions of some checks, and their state. */
interface BulkResult {
  readonly items: BulkCheckItem[];
  readonly revision: Revision;
}

/** Decides many checks at one revision. */
export async function checkBulk(
  session: IamSession,
  requests: readonly CheckRequest[],
  call: StoppableCall,
): Promise<BulkResult> {
  if (requests.length > MAX_BULK_CHECKS) {
    throw invalid(`a bulk check has at most ${MAX_BULK_CHECKS} checks, not ${requests.length}`);
  }
  const items = requests.map((request) => refusal(session, request));
  const valid = [...requests.keys()].filter((index) => items[index] === undefined);
  const asked = valid.map((index) => requests[index] as CheckRequest);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const decided = await decideAtOneRevision(session, asked, call);
    if (decided === undefined) continue;
    for (const [position, index] of valid.entries()) items[index] = decided.items[position];
    return { items: items as BulkCheckItem[], revision: decided.revision };
  }
  throw new AuthzError(
    "UNAVAILABLE",
    `relationships were written during each of ${ATTEMPTS} attempts of a bulk check; make smaller ones`,
  );
}

/** @returns undefined if the parts are of different revisions */
async function decideAtOneRevision(
  session: IamSession,
  requests: readonly CheckRequest[],
  call: StoppableCall,
): Promise<BulkResult | undefined> {
  const items: BulkCheckItem[] = [];
  let revision: Revision | undefined;
  for (let start = 0; start < requests.length || revision === undefined; start += CHUNK) {
    const checks = requests.slice(start, start + CHUNK).map(toCheck);
    const part = await session.read(call, (consistency, options) =>
      session.calls.checkBulkPermissions({ checks, ...given(consistency) }, options),
    );
    if (part.results.length !== checks.length) {
      throw new AuthzError("INTERNAL", "IAM returned another number of results than checks");
    }
    if (revision !== undefined && part.revision !== revision) return undefined;
    revision = part.revision;
    for (const { result } of part.results) items.push(toItem(result));
  }
  return { items, revision };
}

type SentResult = Awaited<
  ReturnType<IamSession["calls"]["checkBulkPermissions"]>
>["results"][number]["result"];

function toItem(result: SentResult): BulkCheckItem {
  switch (result.case) {
    case "allowed":
      return { allowed: result.value };
    case "error":
      return { error: checkError(result.value) };
    default:
      return { error: new AuthzError("INTERNAL", "IAM returned no decision") };
  }
}

function refusal({ validator }: IamSession, request: CheckRequest): BulkCheckItem | undefined {
  try {
    validator.check(request);
    return undefined;
  } catch (error) {
    return { error: error as Error };
  }
}

/** The field of a request. */
export function given<Value>(consistency: Value | undefined): { consistency?: Value } {
  return consistency === undefined ? {} : { consistency };
}
