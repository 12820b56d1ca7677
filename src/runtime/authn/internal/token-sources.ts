import type { SecurityConfig } from "../../configuration/security-config.ts";

/** The subject id of callers with the system token; no service has this name. */
export const SYSTEM_CALLER = "system";

/** `security.authn.internal_call` of a configuration. */
export type InternalCallConfig = SecurityConfig["authn"]["internal_call"];

/** A token that is accepted, or the file that holds it. */
export type TokenSource = {
  /** Its path below `security.authn.internal_call`. */
  readonly path: readonly (string | number)[];
  /** Its caller. */
  readonly caller: string;
  readonly credential: "internal" | "system";
} & (
  | { readonly token: string; readonly file?: undefined }
  | { readonly file: string; readonly token?: undefined }
);

/** The caller of a token without a service name. */
const UNNAMED_SERVICE = "internal";

/**
 * The tokens of a configuration. Empty ones of a list are skipped: they are placeholders for a
 * rotation.
 */
export function tokenSources(config: InternalCallConfig): TokenSource[] {
  return [...serviceTokens(config), ...systemTokens(config)];
}

/** The entries of the list that are empty, by their place in it. */
export function emptyTokens({ token }: InternalCallConfig): { index: number; service: string }[] {
  if (!Array.isArray(token)) return [];
  return token.flatMap(({ service, token }, index) => (token === "" ? [{ index, service }] : []));
}

function* serviceTokens({ token, token_file: file }: InternalCallConfig): Iterable<TokenSource> {
  const credential = "internal";
  const unnamed = { caller: UNNAMED_SERVICE, credential } as const;
  if (file !== undefined) yield { path: ["token_file"], ...unnamed, file };
  if (typeof token === "string") {
    if (token !== "") yield { path: ["token"], ...unnamed, token };
    return;
  }
  for (const [index, { service: caller, token: text, token_file: file }] of (
    token ?? []
  ).entries()) {
    const at = ["token", index];
    if (file !== undefined) yield { path: [...at, "token_file"], caller, credential, file };
    if (text) yield { path: [...at, "token"], caller, credential, token: text };
  }
}

function* systemTokens(config: InternalCallConfig): Iterable<TokenSource> {
  const { system_token: token, system_token_file: file } = config;
  const system = { caller: SYSTEM_CALLER, credential: "system" } as const;
  if (typeof file === "string") yield { path: ["system_token_file"], ...system, file };
  else {
    for (const [index, one] of (file ?? []).entries()) {
      yield { path: ["system_token_file", index], ...system, file: one };
    }
  }
  if (typeof token === "string") {
    if (token !== "") yield { path: ["system_token"], ...system, token };
    return;
  }
  for (const [index, text] of (token ?? []).entries()) {
    if (text !== "") yield { path: ["system_token", index], ...system, token: text };
  }
}
