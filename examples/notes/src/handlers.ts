import type { AuthorizationEngine } from "svc-access/authz";
import { requirePrincipal, ServiceError } from "svc-access/runtime";
import type { NotesServiceHandlers } from "../gen/notes/v1/notes_server.ts";

/** The items of a list at most. A list without paging must have a limit, and with a part of them it would seem complete. */
const MOST_ITEMS = 10_000;

/** The handlers of the service. The runtime checks the access policies of the proto before each call. */
export function handlers(engine: AuthorizationEngine): NotesServiceHandlers {
  const items = new Map<string, { itemId: string; text: string; changedBy: string }>();
  return {
    async getVersion() {
      return { version: "1.0.0" };
    },

    async listItems(_request, context) {
      const { subjectType, subjectId } = requirePrincipal(context);
      const subject = { type: subjectType, id: subjectId };
      const readable = { resourceType: "item", permission: "read", subject };
      const ids: string[] = [];
      let cursor: string | undefined;
      do {
        const request = cursor === undefined ? readable : { ...readable, cursor };
        const page = await engine.lookupResources(request, { signal: context.signal });
        ids.push(...page.items);
        if (ids.length > MOST_ITEMS) {
          throw new ServiceError("FAILED_PRECONDITION", "you may read too many items to list them");
        }
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return { items: ids.map((id) => items.get(id)).filter((item) => item !== undefined) };
    },

    async setItem({ itemId, text }, context) {
      if (text === "") throw new ServiceError("INVALID_ARGUMENT", "text is required");
      const item = { itemId, text, changedBy: requirePrincipal(context).subjectId };
      items.set(itemId, item);
      return { item };
    },
  };
}
