import { expect } from "vitest";
import { AUTHN_MODES, type AuthnMode } from "../../../../src/api/authn-mode.ts";
import type { CallContext, Principal } from "../../../../src/runtime/index.ts";
import { bindVaultService } from "../../fixture/gen/acme/vault/v1/vault_server.ts";
import { forwardFrom, type LocalPeer } from "../../support/local-peer.ts";
import { vaultHandlers } from "../../support/vault-handlers.ts";
import {
  INTERNAL_TOKEN,
  type RunningVault,
  SYSTEM_TOKEN,
  shareDocument,
  startVault,
  type VaultOptions,
} from "../../support/vault-server.ts";

/** The modes that authenticate. */
export type Mode = Exclude<AuthnMode, "disabled">;
export const MODES: readonly Mode[] = AUTHN_MODES.filter((mode) => mode !== "disabled");

/** The address of trusted callers; the others call from 127.0.0.1. */
export const TRUSTED = "127.0.0.2";
/** The audience of the tokens. */
export const AUDIENCE = "vault-client";

/** The arguments of a handler call. */
export interface Handled {
  readonly rpc: string;
  readonly principal: Principal | undefined;
  readonly request: unknown;
  readonly context: CallContext;
}

/** A vault in one mode, its ports for trusted and other peers, and what its handlers saw. */
export interface World {
  readonly vault: RunningVault;
  readonly handled: Handled[];
  /** The port of a transport, for a trusted peer or a stranger. */
  port(transport: "http" | "grpc", from: "trusted" | "stranger"): number;
  stop(): Promise<void>;
}

export interface WorldOptions extends VaultOptions {
  readonly mode: Mode;
  /** The issuer of tokens; needed in `idp_jwt` and `hybrid`. */
  readonly issuer?: string;
  /** Additional keys of `security.authn.oidc`. */
  readonly oidc?: object;
  /** Additional keys of `security.authn`. */
  readonly authn?: object;
  /** Additional keys of `security.authz`. */
  readonly authz?: object;
}

export async function startWorld(options: WorldOptions): Promise<World> {
  const { mode, issuer, oidc, authn, authz = {}, ...rest } = options;
  const handled: Handled[] = [];
  const security = {
    authn: {
      mode,
      gateway: { trusted_peers: [`${TRUSTED}/32`] },
      ...(issuer === undefined ? {} : { oidc: { issuer, audience: [AUDIENCE], ...oidc } }),
      internal_call: {
        enabled: true,
        token: [{ service: "hub", token: INTERNAL_TOKEN }],
        system_token: SYSTEM_TOKEN,
      },
      ...authn,
    },
    authz,
  };
  const bindings = [bindVaultService(recording(handled))];
  const vault = await startVault({ security, bindings, ...rest });
  // Without checks there is no engine.
  if ((vault.engine as object | undefined) !== undefined) await shareDocument(vault.engine);
  const doors: Record<"http" | "grpc", LocalPeer> = {
    http: await forwardFrom(TRUSTED, vault.http),
    grpc: await forwardFrom(TRUSTED, vault.grpc),
  };
  return {
    vault,
    handled,
    port: (transport, from) => (from === "trusted" ? doors[transport].port : vault[transport]),
    async stop() {
      await vault.stop();
      for (const door of Object.values(doors)) door.close();
    },
  };
}

/** A world with a limit of message bytes, over every protocol. */
export function startSmallWorld(maxBytes: number): Promise<World> {
  const address = "127.0.0.1:0";
  const http = { address, max_body_bytes: maxBytes };
  const grpc = { address, max_message_bytes: maxBytes };
  return startWorld({ mode: "gateway_trusted", config: { server: { http, grpc } } });
}

/** The usual handlers, which also record each call. */
function recording(handled: Handled[]): ReturnType<typeof vaultHandlers> {
  const handlers = vaultHandlers();
  const noted = Object.entries(handlers).map(([name, handler]) => [
    name,
    (request: never, context: CallContext) => {
      const { rpc, principal } = context;
      handled.push({ rpc: rpc.slice(rpc.indexOf("/") + 1), principal, request, context });
      return (handler as (request: never, context: CallContext) => unknown)(request, context);
    },
  ]);
  return Object.fromEntries(noted) as ReturnType<typeof vaultHandlers>;
}

/** The form of every error body (docs/requirements.md, ERR-2). */
export function expectErrorBody(text: string, status: number, requestId: string | undefined): void {
  const body = JSON.parse(text) as Record<string, unknown>;
  expect(Object.keys(body).filter((key) => key !== "details")).toEqual([
    "status",
    "code",
    "message",
    "request_id",
  ]);
  expect(body).toMatchObject({ status, request_id: requestId });
  expect(body["code"]).toMatch(/^[A-Z][A-Z_]*$/);
  expect(requestId).toMatch(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/);
}
