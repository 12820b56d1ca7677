import type { ClientDeclaration } from "../provider/embedded/client-declaration.ts";
import type { ClientDifference } from "../provider/embedded/client-differences.ts";
import type { Rotation } from "../store/provider-keys.ts";

/** What the platform manages of the embedded provider while it runs. */
export interface ProviderManagement {
  /** The clients but the own one. */
  clients(): readonly ClientDeclaration[];
  /** What applying these clients would change. */
  plan(clients: readonly ClientDeclaration[]): Promise<readonly ClientDifference[]>;
  /** Makes these the clients of the provider. @throws StartUpError for an id that is taken */
  apply(clients: readonly ClientDeclaration[]): Promise<readonly ClientDifference[]>;
  /** Lets the next signing key sign. */
  rotateSigningKey(options: { readonly isUrgent: boolean }): Promise<Rotation>;
}
