/** The part of a frontend's configuration with its allowed origins. */
interface AllowedOrigins {
  readonly allowed_origins: readonly string[];
}

/** The other origins whose pages may call a frontend, without duplicates and in lower case, as browsers send them. */
export function originsOf({ allowed_origins: origins }: AllowedOrigins): string[] {
  return [...new Set(origins.map((origin) => origin.toLowerCase()))];
}
