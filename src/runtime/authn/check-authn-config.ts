import { AUTHN_SOURCES } from "../../api/authn-mode.ts";
import type { ConfigProblem } from "../../config/check-edge.ts";
import {
  isForDevelopment,
  refusedIn,
  type ServiceConfig,
} from "../configuration/service-config.ts";
import { LOOPBACK, PeerTrust } from "../peer/peer-trust.ts";
import { checkInternalCalls } from "./internal/check-internal-calls.ts";
import { readTokenFile, type TokenFileReader } from "./internal/internal-token.ts";
import { emptyTokens, tokenSources } from "./internal/token-sources.ts";

/** The problems that prevent a start, since callers could not be identified with certainty. */
export function checkAuthnConfig(config: ServiceConfig): ConfigProblem[] {
  return problemsOf(config, readTokenFile);
}

/** The same without those of the files of tokens, for a program that does not serve. */
export function checkAuthnKeys(config: ServiceConfig): ConfigProblem[] {
  return problemsOf(config, () => ({}));
}

function problemsOf(config: ServiceConfig, read: TokenFileReader): ConfigProblem[] {
  return [
    ...checkSwitches(config),
    ...checkTrustedPeers(config),
    ...checkOidc(config),
    ...checkRevocation(config, read),
    ...checkInternalCalls(config.security.authn.internal_call, read),
  ];
}

/** The warnings that are printed at each start. */
export function authnWarnings(config: ServiceConfig): string[] {
  const { authn } = config.security;
  const warnings: string[] = [];
  const warn = (key: string, message: string) => warnings.push(`security.authn.${key} ${message}`);
  if (!authn.enabled) warn("enabled", "is false: callers are not authenticated");
  if (authn.mode === "disabled") warn("mode", "is disabled: callers are not authenticated");
  if (trustsLoopback(config)) {
    warn("gateway.trusted_peers", "is not given: in development, loopback is trusted");
  }
  const { trust } = PeerTrust.read(authn.gateway.trusted_peers);
  if (trust.holdsEverybody) {
    warn(
      "gateway.trusted_peers",
      "contains every address, so any client that reaches the service can claim any identity",
    );
  }
  if (trust.needsCertificates && !asksForCertificates(config)) {
    warn("gateway.trusted_peers", "has certificate names, but no server has tls.client_ca_file");
  }
  const sources = tokenSources(authn.internal_call);
  if (!authn.internal_call.enabled && sources.length > 0) {
    warn("internal_call.enabled", "is false: its tokens are not accepted");
  }
  const { revocation } = authn;
  if (revocation?.on_loss === "serve") {
    warn(
      "revocation.on_loss",
      "is serve: while revocations are not known, revoked tokens are accepted",
    );
  }
  if (revocation?.insecure === true && !isForDevelopment(config)) {
    warn("revocation.insecure", "is true: the internal token is sent in plain text");
  }
  if (authn.casdoor?.endpoint.toLowerCase().startsWith("http:") && !isForDevelopment(config)) {
    warn("casdoor.endpoint", "is not https: the client secret and tokens are sent in plain text");
  }
  const known = new Set(sources.map(({ caller }) => caller));
  for (const { index, service } of emptyTokens(authn.internal_call)) {
    if (known.has(service)) continue;
    warn(
      `internal_call.token[${index}]`,
      `is empty, and ${service} has no other token: it cannot call`,
    );
  }
  return warnings;
}

function* checkSwitches(config: ServiceConfig): Iterable<ConfigProblem> {
  if (isForDevelopment(config)) return;
  const { enabled, mode } = config.security.authn;
  const refused = `that is ${refusedIn(config)}`;
  if (!enabled) yield problem(["enabled"], `security.authn.enabled is false; ${refused}`);
  if (mode === "disabled") {
    yield problem(["mode"], `security.authn.mode is disabled; ${refused}`);
  }
}

function* checkTrustedPeers(config: ServiceConfig): Iterable<ConfigProblem> {
  const { enabled, mode, gateway } = config.security.authn;
  const { trusted_peers: peers, allow_any_peer: allowsAny } = gateway;
  const at = ["gateway", "trusted_peers"];
  const key = "security.authn.gateway.trusted_peers";
  const trustsHeaders = enabled && AUTHN_SOURCES[mode].headers;
  if (trustsHeaders && peers.length === 0 && !trustsLoopback(config)) {
    yield problem(
      at,
      `${key} is missing: the mode ${mode} needs the addresses of the gateway, such as 10.1.2.0/24, or the names of its certificate`,
    );
  }
  const { trust, problems } = PeerTrust.read(peers);
  for (const { index, message } of problems) {
    yield problem([...at, index], `${key}[${index}]: ${message}`);
  }
  if (trust.holdsEverybody && !allowsAny) {
    yield problem(
      at,
      `${key} contains every address; name the gateway's own, or write security.authn.gateway.allow_any_peer: true`,
    );
  }
}

function* checkOidc(config: ServiceConfig): Iterable<ConfigProblem> {
  const { enabled, mode, oidc } = config.security.authn;
  if (enabled && AUTHN_SOURCES[mode].tokens && oidc === undefined) {
    yield problem(
      ["oidc"],
      `security.authn.oidc is missing: the mode ${mode} needs its issuer and audience`,
    );
  }
}

function* checkRevocation(config: ServiceConfig, read: TokenFileReader): Iterable<ConfigProblem> {
  const { enabled, mode, revocation } = config.security.authn;
  if (revocation === undefined || !enabled || mode === "disabled") return;
  const key = "security.authn.revocation";
  if (!AUTHN_SOURCES[mode].tokens) {
    yield problem(
      ["revocation"],
      `${key} is given, but the mode ${mode} reads no tokens; write mode: idp_jwt or hybrid, or remove it`,
    );
    return;
  }
  const unused = (["ca_file", "certificate_file"] as const).find((name) => name in revocation);
  if (revocation.insecure && unused !== undefined) {
    yield problem(
      ["revocation", unused],
      `${key}.${unused} is given, but insecure is true: IAM would be called without TLS; remove one of them`,
    );
  }
  const { token_file: file } = revocation;
  const why = file === undefined ? undefined : read(file).problem;
  if (why !== undefined) {
    yield problem(["revocation", "token_file"], `${key}.token_file (${file}) ${why}`);
  }
}

function problem(path: readonly (string | number)[], message: string): ConfigProblem {
  return { path: ["security", "authn", ...path], message };
}

function asksForCertificates({ server }: ServiceConfig): boolean {
  return [server.http, server.grpc].some((one) => one?.tls?.client_ca_file !== undefined);
}

const DEVELOPMENT = "development";

/** Whether loopback is trusted because no trusted peers are given. */
function trustsLoopback({ environment, security }: ServiceConfig): boolean {
  const { enabled, mode, gateway } = security.authn;
  return (
    enabled &&
    environment === DEVELOPMENT &&
    AUTHN_SOURCES[mode].headers &&
    gateway.trusted_peers.length === 0
  );
}

/**
 * The peers that a service trusts, by its configuration.
 *
 * @throws Error if an entry is malformed; `checkAuthnConfig` reports all of them
 */
export function peerTrustOf(config: ServiceConfig): PeerTrust {
  const { trusted_peers: peers, allow_any_peer: allowsAny } = config.security.authn.gateway;
  const { trust, problems } = PeerTrust.read(trustsLoopback(config) ? LOOPBACK : peers);
  if (problems.length > 0 || (trust.holdsEverybody && !allowsAny)) {
    throw new Error("the trusted peers of the configuration are not valid");
  }
  return trust;
}
