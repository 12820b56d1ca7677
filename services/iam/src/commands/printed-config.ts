import { redact } from "svc-access/runtime";
import type { LoadedIamConfig } from "../config/load-iam-config.ts";

const MASKED = "***";

type InternalCall = LoadedIamConfig["config"]["security"]["authn"]["internal_call"];

/** What is printed of a configuration, as far as it is changed here. */
interface Printed {
  readonly security: { readonly authn: { readonly internal_call: Record<string, unknown> } };
}

/**
 * A configuration for people: secrets are masked, in a list each of them, so that the names beside
 * them are read.
 */
export function printedConfig({ config, sections }: LoadedIamConfig): unknown {
  const printed = redact({ ...config, ...sections }) as Printed;
  const { token, system_token } = config.security.authn.internal_call;
  const call = printed.security.authn.internal_call;
  if (Array.isArray(token)) call["token"] = token.map(maskedEntry);
  if (Array.isArray(system_token)) call["system_token"] = system_token.map(masked);
  return printed;
}

/** Only these keys are shown: one that is added later may be a secret. */
function maskedEntry(entry: Exclude<InternalCall["token"], string | undefined>[number]): object {
  const { service, token, token_file } = entry;
  return {
    service,
    ...(token === undefined ? {} : { token: masked(token) }),
    ...(token_file === undefined ? {} : { token_file }),
  };
}

/** An empty one is not a secret, and is skipped. */
function masked(token: string): string {
  return token === "" ? "" : MASKED;
}
