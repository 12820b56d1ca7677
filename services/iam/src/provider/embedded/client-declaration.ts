import type { JsonWebKey } from "node:crypto";

/** How a client gets tokens. */
export type ClientFlow =
  /** People log in with a browser. */
  | "code"
  /** People approve it with a browser on another device. */
  | "device"
  /** It logs in by itself. */
  | "service_account";

/** A client of the provider, as the configuration declares it. */
export interface ClientDeclaration {
  /** UUID; of a service account also its subject id. */
  readonly id: string;
  /** The name that people see. */
  readonly name: string;
  readonly flows: readonly ClientFlow[];
  /** Its secret, for HTTP Basic authentication. */
  readonly secret?: string;
  /** Its public keys, for `private_key_jwt`. */
  readonly publicKeys?: readonly JsonWebKey[];
  /** Where people come back to after login; compared exactly, except for the ports of native applications. */
  readonly redirectUris: readonly string[];
  /** Where people come back to after logout; compared likewise. */
  readonly postLogoutRedirectUris: readonly string[];
  /** Where it is notified that a session has ended. */
  readonly backchannelLogoutUri?: string;
  /** Whether people are asked before it gets their data. */
  readonly asksConsent: boolean;
  /**
   * The services that its tokens can be for, as absolute URIs; the first one counts where it names none.
   * Absent, its tokens are for the client itself.
   */
  readonly audience?: readonly [string, ...string[]];
}
