import type { DescMethod } from "@bufbuild/protobuf";
import type { AccessPolicy } from "../../../src/api/format.ts";
import type { BoundMethod, MethodKind } from "../../../src/runtime/binding/bound-method.ts";
import type { Call } from "../../../src/runtime/call/call.ts";
import type { Principal } from "../../../src/runtime/call/call-context.ts";
import type { CredentialKind } from "../../../src/runtime/call/credential-kinds.ts";
import { boundMethod, newCall, sentHeaders } from "../support/call.ts";

/** A method with a policy; its handler is never called. */
export function methodOf(
  policy: Partial<AccessPolicy>,
  of: {
    readonly rpc?: string;
    readonly index?: number;
    readonly kind?: MethodKind;
    readonly descriptor?: DescMethod | undefined;
    readonly isWrite?: boolean;
  } = {},
): BoundMethod {
  return boundMethod({
    rpc: "a.v1.Service/Method",
    isWrite: true,
    ...of,
    policy: { exposure: "AUTHENTICATED", publish: false, ...policy },
  });
}

/** Alice of acme, with changes. */
export function principalOf(of: Partial<Principal> = {}): Principal {
  return {
    subjectId: "alice",
    subjectType: "user",
    username: "alice-name",
    name: "Alice",
    email: "alice@example.com",
    organizationId: "acme",
    groups: [],
    roles: [],
    scopes: [],
    source: "jwt",
    ...of,
  };
}

/** A call after authentication. */
export function callOf(
  method: BoundMethod,
  of: {
    readonly principal?: Principal;
    readonly credential?: CredentialKind;
    readonly request?: unknown;
    readonly clientAddress?: string;
    readonly requestId?: string;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Call {
  const call = newCall({
    method,
    requestId: of.requestId ?? "request-1",
    headers: sentHeaders(Object.entries(of.headers ?? {})),
    target: "/v1/things?token=t0ps3cret",
    httpMethod: "POST",
    readRequest: () => of.request,
  });
  call.principal = of.principal;
  call.credential = of.credential ?? (of.principal === undefined ? "none" : "jwt");
  call.request = of.request;
  call.clientAddress = of.clientAddress ?? "192.0.2.7";
  call.deadline = Date.now() + 5000;
  return call;
}
