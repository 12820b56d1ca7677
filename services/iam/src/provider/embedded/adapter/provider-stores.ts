import type { ProviderDocuments } from "../../../ground/store/provider-documents.ts";
import type { Revocations } from "../../../people/sessions/revocations.ts";
import type { Sessions } from "../../../people/sessions/sessions.ts";

/** The state of the provider. */
export interface ProviderStores {
  readonly documents: ProviderDocuments;
  readonly sessions: Sessions;
  readonly revocations: Revocations;
}
