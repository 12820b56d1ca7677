import type { AuthorizationEngine } from "svc-access/authz";
import { requirePrincipal, ServiceError } from "svc-access/runtime";
import type { NotesServiceHandlers } from "../gen/notes/v1/notes_server.ts";

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
      const { items: ids } = await engine.lookupResources(
        { resourceType: "item", permission: "read", subject },
        { signal: context.signal },
      );
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
