import { AuthzError } from "svc-access/authz";
import {
  type CallContext,
  DatabaseError,
  type RawHandler,
  type RawRequest,
  type RawResponse,
  ServiceError,
} from "svc-access/runtime";
import { QueueFullError } from "../ground/queue/work-queue.ts";
import type { PageDesign } from "../pages/page-design.ts";
import type { PageView } from "../pages/page-view.ts";
import type { FailedAttempt, FailedAttempts } from "../people/accounts/throttle/failed-attempts.ts";
import type { BootstrapLink, BootstrapLinks } from "./bootstrap-links.ts";
import { deadLinkPage, laterPage, ownedPage } from "./bootstrap-pages.ts";
import type { ZoneOwners } from "./zone-owners.ts";

/** The path of the links. */
export const BOOTSTRAP_PATH = "/v1/iam/ui/bootstrap";
/** The path of the page that says who has become the owner. */
export const BOOTSTRAP_DONE_PATH = `${BOOTSTRAP_PATH}/done`;

/** A link that works, of a zone without an owner. */
export interface OpenLink {
  readonly link: BootstrapLink;
  readonly token: string;
}

/** A request below the path of the links. */
export interface BootstrapRequest {
  readonly request: RawRequest;
  readonly call: CallContext;
  readonly view: PageView;
}

/** What happens with a link, for one kind of provider. */
export interface BootstrapFlow {
  /** The paths that it has pages of. */
  readonly paths: readonly string[];
  respond(request: BootstrapRequest): Promise<RawResponse>;
}

/** What all flows need. */
export interface BootstrapParts {
  readonly links: BootstrapLinks;
  readonly owners: ZoneOwners;
  readonly attempts: Pick<FailedAttempts, "record">;
  readonly design: PageDesign;
  /** Where people log in, if that is here. */
  readonly loginPath: string | undefined;
}

/** The handler of the links that make first owners. */
export function bootstrapHandler(
  flow: BootstrapFlow,
  { design }: Pick<BootstrapParts, "design">,
): RawHandler {
  return {
    path: BOOTSTRAP_PATH,
    async handle(request, call) {
      if (!flow.paths.includes(request.path)) {
        throw new ServiceError("RESOURCE_NOT_FOUND", "there is no such page");
      }
      const view = await design.personalView(request, call);
      try {
        return await flow.respond({ request, call, view });
      } catch (error) {
        if (!isTemporary(error)) throw error;
        request.nameCause(new ServiceError("UNAVAILABLE", undefined, { cause: error }));
        return view.response(503, laterPage(), { "Retry-After": "5" });
      }
    },
  };
}

/**
 * The link of a token, if it can be used.
 *
 * @returns the link, or the response that refuses it
 */
export async function openLink(
  tokens: readonly string[],
  { links, owners, attempts, loginPath }: BootstrapParts,
  { call, view }: BootstrapRequest,
): Promise<OpenLink | RawResponse> {
  const [token = "", ...others] = tokens;
  const link = others.length === 0 ? await links.find(token) : undefined;
  if (link === undefined) {
    // Only who has a genuine link hears of an owner.
    const known = others.length === 0 ? await links.zoneOf(token) : undefined;
    if (known !== undefined && (await owners.hasOwner(known, call.signal))) {
      await attempts.record(call, failureOf({ zone: known }, "dead_link"));
      return view.response(409, ownedPage(known, loginPath));
    }
    await attempts.record(call, {
      event: "bootstrap.failed",
      details: { reason: "dead_link" },
    });
    return view.response(404, deadLinkPage());
  }
  const { zone, accountId } = link;
  const { signal } = call;
  const isOwned =
    (await owners.hasOwner(zone, signal)) && !(await owners.hasOwner(zone, signal, accountId));
  if (!isOwned) return { link, token };
  await attempts.record(call, failureOf(link, "owned"));
  return view.response(409, ownedPage(zone, loginPath));
}

/** The failure of a link that is known. */
export function failureOf({ zone }: Pick<BootstrapLink, "zone">, reason: string): FailedAttempt {
  return { event: "bootstrap.failed", details: { reason }, resource: `zone:${zone}` };
}

/** Whether the same link may work a moment later. */
function isTemporary(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code === "UNAVAILABLE";
  return [AuthzError, DatabaseError, QueueFullError].some((kind) => error instanceof kind);
}
