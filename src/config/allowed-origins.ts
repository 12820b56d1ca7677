import type { FrontendConfig } from "./frontend-config.ts";

/** The other origins whose pages may call a frontend, each once and as browsers send them: in lower case. */
export function originsOf({ allowed_origins }: Pick<FrontendConfig, "allowed_origins">): string[] {
  return [...new Set(allowed_origins.map((origin) => origin.toLowerCase()))];
}
