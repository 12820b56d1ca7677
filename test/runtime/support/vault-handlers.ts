import type { CallContext } from "../../../src/runtime/index.ts";
import type { VaultServiceHandlers } from "../fixture/gen/acme/vault/v1/vault_server.ts";

/** Handlers that return the caller that they saw, and their request. */
export function vaultHandlers(): VaultServiceHandlers {
  const answer = (context: CallContext, echo: string) => {
    const { subjectId = "", subjectType = "", source = "" } = context.principal ?? {};
    return { subjectId, subjectType, source, echo };
  };
  return {
    getNotice: async ({ noticeId }, context) => answer(context, noticeId),
    getProfile: async (_, context) => answer(context, ""),
    getDocument: async ({ documentId }, context) => answer(context, documentId),
    listDocuments: async (_, context) => answer(context, ""),
    updateDocument: async ({ text }, context) => answer(context, text),
    pollDocument: async ({ documentId }, context) => answer(context, documentId),
    unlockDocument: async ({ documentId }, context) => answer(context, documentId),
    searchDocuments: async ({ text }, context) => answer(context, text),
    inspectDocuments: async (_, context) => answer(context, ""),
    dumpDocuments: async (_, context) => answer(context, ""),
    reconcile: async ({ reason }, context) => answer(context, reason),
    reset: async ({ reason }, context) => answer(context, reason),
    async *watchDocument({ count }, context) {
      for (let index = 0; index < count; index++) yield answer(context, String(index));
    },
    async uploadDocument(requests, context) {
      let size = 0;
      for await (const { chunk } of requests) size += chunk.length;
      return answer(context, String(size));
    },
    async *converse(requests, context) {
      for await (const { text } of requests) yield answer(context, text);
    },
  };
}
