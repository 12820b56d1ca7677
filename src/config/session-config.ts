import type { FrontendConfig } from "./frontend-config.ts";

/** What a frontend needs where the gateway logs its users in, and has no use for elsewhere. */
export const SESSION_KEYS = ["client_id", "client_secret", "redirect_url", "logout_path"] as const;

/** The client by which the gateway logs the users of a frontend in. */
export type SessionConfig = {
  readonly [Key in (typeof SESSION_KEYS)[number]]: NonNullable<FrontendConfig[Key]>;
};

/** The client of a frontend; undefined where it takes Bearer tokens only. */
export function sessionOf(config: FrontendConfig): SessionConfig | undefined {
  if (config.login === "bearer") return undefined;
  const { client_id, client_secret, redirect_url, logout_path } = config;
  if (!client_id || client_secret === undefined || !redirect_url || !logout_path) {
    // The schema refuses this; a login without its client may not become a route without one.
    throw new Error(`the frontend on ${config.host} has no complete login`);
  }
  return { client_id, client_secret, redirect_url, logout_path };
}
