/**
 * Who may call what, derived from docs/requirements.md (Exposure, Authentication, Identity
 * headers), cell by cell. A cell is the caller that the handler sees (`-` for none),
 * or the HTTP status of the refusal.
 */
import type { AuthnMode } from "../../../src/api/authn-mode.ts";
import type { Protocol } from "../support/wire/protocols.ts";

/** The columns: an RPC of each exposure, and for AUTHORIZED each outcome of the check. */
export const COLUMNS = [
  "PUBLIC",
  "AUTHENTICATED",
  "AUTHORIZED, allowed",
  "AUTHORIZED, denied",
  "AUTHORIZED, engine down",
  "INTERNAL",
  "SYSTEM",
] as const;

/** RPCs with streams: the same callers are allowed as for the unary RPC of their exposure. */
export const STREAMS = {
  "AUTHENTICATED, stream both ways": "AUTHENTICATED",
  "AUTHORIZED, stream of answers": "AUTHORIZED, allowed",
  "INTERNAL, stream of requests": "INTERNAL",
} as const satisfies Record<string, (typeof COLUMNS)[number]>;

export type Stream = keyof typeof STREAMS;
export type Rpc = (typeof COLUMNS)[number] | Stream;

/** All RPCs: those of the columns, and the streams. */
export const RPCS: readonly Rpc[] = [...COLUMNS, ...(Object.keys(STREAMS) as Stream[])];

export function isStream(rpc: Rpc): rpc is Stream {
  return rpc in STREAMS;
}

/** The credentials of a call, each from a trusted or an untrusted peer. */
export const CREDENTIALS = {
  "no credential": {},
  "trusted headers of alice": { headers: "alice", peer: "trusted" },
  "claim headers of alice": { claimHeaders: "alice", peer: "trusted" },
  "claim headers, a service account": {
    claimHeaders: "ci",
    type: "service_account",
    peer: "trusted",
  },
  "claim headers, an unknown type": { claimHeaders: "ci", type: "robot", peer: "trusted" },
  "alice's headers, untrusted peer": { headers: "alice", peer: "untrusted" },
  "a duplicate user id": { headers: "alice", duplicate: "bob", peer: "trusted" },
  "JWT of alice": { jwt: "valid" },
  "expired JWT": { jwt: "expired" },
  "JWT of another key": { jwt: "forged" },
  "expired JWT, trusted headers": { jwt: "expired", headers: "alice", peer: "trusted" },
  "JWT of alice, headers of bob": { jwt: "valid", headers: "bob", peer: "trusted" },
  "internal token": { token: "internal" },
  "wrong internal token": { token: "wrong" },
  "system token": { token: "system" },
} as const satisfies Record<string, Credential>;

/** The credentials of a call. */
export interface Credential {
  readonly headers?: string;
  readonly claimHeaders?: string;
  /** The subject type. */
  readonly type?: string;
  /** A second value of the same header. */
  readonly duplicate?: string;
  readonly peer?: "trusted" | "untrusted";
  readonly jwt?: "valid" | "expired" | "forged";
  readonly token?: "internal" | "wrong" | "system";
}

export type CredentialName = keyof typeof CREDENTIALS;

/**
 * The outcome of a call of an RPC over a protocol: the same for each protocol, unless it cannot
 * carry the RPC, which is checked before authentication.
 */
export function expectedCell(
  mode: AuthnMode,
  credential: CredentialName,
  rpc: Rpc,
  protocol: Protocol,
): string {
  const notCarried = statusOfNotCarried(rpc, protocol);
  if (notCarried !== undefined) return notCarried;
  const cells = EXPECTED[mode][credential].split(/\s+/);
  return cells[COLUMNS.indexOf(isStream(rpc) ? STREAMS[rpc] : rpc)] as string;
}

/** From docs/requirements.md, TRANS-3: GET is never for INTERNAL and SYSTEM, nor for streams; a route has no stream of requests. */
function statusOfNotCarried(rpc: Rpc, protocol: Protocol): string | undefined {
  if (protocol === "Connect GET") {
    return isStream(rpc) || rpc === "INTERNAL" || rpc === "SYSTEM" ? "405" : undefined;
  }
  const hasNoRoute =
    rpc === "AUTHENTICATED, stream both ways" || rpc === "INTERNAL, stream of requests";
  return protocol === "HTTP" && hasNoRoute ? "415" : undefined;
}

/** The outcomes by mode and credential, in the order of the columns. */
export const EXPECTED: Readonly<Record<AuthnMode, Readonly<Record<CredentialName, string>>>> = {
  gateway_trusted: {
    "no credential": "-      401    401    401  401  401  401",
    "trusted headers of alice": "alice  alice  alice  403  503  403  403",
    "claim headers of alice": "alice  alice  alice  403  503  403  403",
    "claim headers, a service account": "ci     ci     403    403  403  403  403",
    "claim headers, an unknown type": "400    400    400    400  400  400  400",
    "alice's headers, untrusted peer": "-      401    401    401  401  401  401",
    "a duplicate user id": "400    400    400    400  400  400  400",
    "JWT of alice": "-      401    401    401  401  401  401",
    "expired JWT": "-      401    401    401  401  401  401",
    "JWT of another key": "-      401    401    401  401  401  401",
    "expired JWT, trusted headers": "alice  alice  alice  403  503  403  403",
    "JWT of alice, headers of bob": "bob    bob    403    403  503  403  403",
    "internal token": "hub    hub    403    403  403  hub  403",
    "wrong internal token": "-      401    401    401  401  401  401",
    "system token": "system system 403    403  403  403  system",
  },
  idp_jwt: {
    "no credential": "-      401    401    401  401  401  401",
    "trusted headers of alice": "-      401    401    401  401  401  401",
    "claim headers of alice": "-      401    401    401  401  401  401",
    "claim headers, a service account": "-      401    401    401  401  401  401",
    "claim headers, an unknown type": "-      401    401    401  401  401  401",
    "alice's headers, untrusted peer": "-      401    401    401  401  401  401",
    "a duplicate user id": "400    400    400    400  400  400  400",
    "JWT of alice": "alice  alice  alice  403  503  403  403",
    "expired JWT": "-      401    401    401  401  401  401",
    "JWT of another key": "-      401    401    401  401  401  401",
    "expired JWT, trusted headers": "-      401    401    401  401  401  401",
    "JWT of alice, headers of bob": "alice  alice  alice  403  503  403  403",
    "internal token": "hub    hub    403    403  403  hub  403",
    "wrong internal token": "-      401    401    401  401  401  401",
    "system token": "system system 403    403  403  403  system",
  },
  hybrid: {
    "no credential": "-      401    401    401  401  401  401",
    "trusted headers of alice": "alice  alice  alice  403  503  403  403",
    "claim headers of alice": "alice  alice  alice  403  503  403  403",
    "claim headers, a service account": "ci     ci     403    403  403  403  403",
    "claim headers, an unknown type": "400    400    400    400  400  400  400",
    "alice's headers, untrusted peer": "-      401    401    401  401  401  401",
    "a duplicate user id": "400    400    400    400  400  400  400",
    "JWT of alice": "alice  alice  alice  403  503  403  403",
    "expired JWT": "-      401    401    401  401  401  401",
    "JWT of another key": "-      401    401    401  401  401  401",
    "expired JWT, trusted headers": "alice  alice  alice  403  503  403  403",
    "JWT of alice, headers of bob": "-      401    401    401  401  401  401",
    "internal token": "hub    hub    403    403  403  hub  403",
    "wrong internal token": "-      401    401    401  401  401  401",
    "system token": "system system 403    403  403  403  system",
  },
  disabled: {
    "no credential": "-      -      401    401  401  401  401",
    "trusted headers of alice": "-      -      401    401  401  401  401",
    "claim headers of alice": "-      -      401    401  401  401  401",
    "claim headers, a service account": "-      -      401    401  401  401  401",
    "claim headers, an unknown type": "-      -      401    401  401  401  401",
    "alice's headers, untrusted peer": "-      -      401    401  401  401  401",
    "a duplicate user id": "400    400    400    400  400  400  400",
    "JWT of alice": "-      -      401    401  401  401  401",
    "expired JWT": "-      -      401    401  401  401  401",
    "JWT of another key": "-      -      401    401  401  401  401",
    "expired JWT, trusted headers": "-      -      401    401  401  401  401",
    "JWT of alice, headers of bob": "-      -      401    401  401  401  401",
    "internal token": "hub    hub    403    403  403  hub  403",
    "wrong internal token": "-      401    401    401  401  401  401",
    "system token": "system system 403    403  403  403  system",
  },
};
