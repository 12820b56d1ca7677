/** What a frontend needs where the gateway logs its users in, and has no use for elsewhere. */
export const SESSION_KEYS = ["client_id", "client_secret", "redirect_url", "logout_path"] as const;

/** The client by which the gateway logs the users of a frontend in. */
export interface SessionConfig {
  readonly client_id: string;
  /** A Secret by its name, never by its value. */
  readonly client_secret: { readonly name: string; readonly namespace?: string | undefined };
  readonly redirect_url: string;
  readonly logout_path: string;
}

/** What of a frontend says whether it has a login, and which. */
type LoginConfig = { readonly [Key in keyof SessionConfig]?: SessionConfig[Key] | undefined } & {
  readonly host: string;
  readonly login: "session" | "bearer";
};

/** The client of a frontend; undefined where it takes Bearer tokens only. */
export function sessionOf(config: LoginConfig): SessionConfig | undefined {
  if (config.login === "bearer") return undefined;
  const { client_id, client_secret, redirect_url, logout_path } = config;
  if (!client_id || client_secret === undefined || !redirect_url || !logout_path) {
    // The schema refuses this; a login without its client may not become a route without one.
    throw new Error(`the frontend on ${config.host} has no complete login`);
  }
  return { client_id, client_secret, redirect_url, logout_path };
}

/** The callback and the logout path of a frontend, which the gateway answers; none where it has no login. */
export function loginPaths(config: LoginConfig): string[] {
  const session = sessionOf(config);
  if (session === undefined) return [];
  return [new URL(session.redirect_url).pathname, session.logout_path];
}
