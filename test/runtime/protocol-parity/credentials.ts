import type { Field } from "../hostile/support/raw-http.ts";
import { nowSeconds, type TokenSource } from "../hostile/support/tokens.ts";
import { INTERNAL_TOKEN, SYSTEM_TOKEN } from "../support/vault-server.ts";

/** The credentials of a call, and the peer that sends them. */
export interface Credential {
  readonly from: "trusted" | "stranger";
  readonly fields: (id: string, tokens: TokenSource) => readonly Field[];
}

const headers = (id: string): Field[] => [
  ["X-Svc-Auth-Verified", "true"],
  ["X-Svc-User-Id", id],
  ["X-Svc-Org-Id", "acme"],
];

export const CREDENTIALS = {
  nothing: { from: "trusted", fields: () => [] },
  headers: { from: "trusted", fields: headers },
  claims: { from: "trusted", fields: (id) => [["X-Svc-External-Sub", id]] },
  "headers of a stranger": { from: "stranger", fields: headers },
  "a token": { from: "stranger", fields: (id, { bearer }) => [bearer({ sub: id })] },
  "an expired token": {
    from: "trusted",
    fields: (id, { bearer }) => [bearer({ sub: id, exp: nowSeconds() - 900 })],
  },
  "a token and headers": {
    from: "trusted",
    fields: (id, { bearer }) => [...headers(id), bearer({ sub: id })],
  },
  "a token and headers of another": {
    from: "trusted",
    fields: (id, { bearer }) => [...headers(`${id}-not`), bearer({ sub: id })],
  },
  "the internal token": {
    from: "stranger",
    fields: () => [["X-Svc-Internal-Token", INTERNAL_TOKEN]],
  },
  "the system token": { from: "stranger", fields: () => [["X-Svc-Internal-Token", SYSTEM_TOKEN]] },
  "a wrong internal token": { from: "trusted", fields: () => [["X-Svc-Internal-Token", "wrong"]] },
  "an id twice": {
    from: "trusted",
    fields: (id) => [...headers(id), ["X-Svc-User-Id", "admin"]],
  },
  "another spelling": { from: "trusted", fields: (id) => [["X_Svc_User_Id", id]] },
  "a member set": { from: "trusted", fields: (id) => headers(`${id}#member`) },
} as const satisfies Record<string, Credential>;

export type CredentialName = keyof typeof CREDENTIALS;
