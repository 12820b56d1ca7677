import type { Revocations } from "../../../sessions/revocations.ts";
import type { Sessions } from "../../../sessions/sessions.ts";
import type { ProviderDocuments } from "../../../store/provider-documents.ts";

/** The state of the provider. */
export interface ProviderStores {
  readonly documents: ProviderDocuments;
  readonly sessions: Sessions;
  readonly revocations: Revocations;
}
