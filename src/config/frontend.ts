/** The OAuth client with which the gateway logs in the users of a frontend. */
export interface SessionConfig {
  readonly client_id: string;
  /** A Secret by its name, never by its value. */
  readonly client_secret: { readonly name: string; readonly namespace?: string | undefined };
  readonly redirect_url: string;
  readonly logout_path: string;
}

/** The part of a frontend's configuration about its login. */
type LoginConfig = { readonly [Key in keyof SessionConfig]?: SessionConfig[Key] | undefined } & {
  readonly host: string;
  readonly login: "session" | "bearer";
};

/** The client of a frontend; undefined if it takes Bearer tokens only. */
export function sessionOf(config: LoginConfig): SessionConfig | undefined {
  if (config.login === "bearer") return undefined;
  const { client_id, client_secret, redirect_url, logout_path } = config;
  if (!client_id || client_secret === undefined || !redirect_url || !logout_path) {
    // The schema rejects this: an incomplete login must never result in a route without a login.
    throw new Error(`the frontend on ${config.host} has no complete login`);
  }
  return { client_id, client_secret, redirect_url, logout_path };
}

/** The callback and logout path of a frontend, which the gateway serves; empty if it has no login. */
export function loginPaths(config: LoginConfig): string[] {
  const session = sessionOf(config);
  if (session === undefined) return [];
  return [new URL(session.redirect_url).pathname, session.logout_path];
}

/** The part of a frontend's configuration with its allowed origins. */
interface AllowedOrigins {
  readonly allowed_origins: readonly string[];
}

/** The other origins whose pages may call a frontend, without duplicates and in lower case, as browsers send them. */
export function originsOf({ allowed_origins: origins }: AllowedOrigins): string[] {
  return [...new Set(origins.map((origin) => origin.toLowerCase()))];
}
