/** The part of a frontend that lists them. */
interface AllowedOrigins {
  readonly allowed_origins: readonly string[];
}

/** The other origins whose pages may call a frontend, each once and as browsers send them: in lower case. */
export function originsOf({ allowed_origins: origins }: AllowedOrigins): string[] {
  return [...new Set(origins.map((origin) => origin.toLowerCase()))];
}
