import { ServiceError } from "../error/service-error.ts";
import type { GatewayHeadersAuthenticator } from "./gateway/gateway-headers.ts";
import type { AuthenticationRequest, Authenticator, Identity } from "./identity/authenticator.ts";
import { BearerRefused } from "./jwt/bearer-token.ts";

/**
 * The mode `hybrid`: the JWT first; if it does not identify the caller, the headers of the gateway.
 * If both do, they must name the same caller.
 *
 * A JWT that cannot be verified now counts as invalid: a peer that may use the headers could send
 * an invalid one as well. Without headers the call is UNAVAILABLE. A genuine JWT whose bearer is
 * refused decides: the gateway sets its headers from the same token, and does not know revocations.
 */
export class HybridAuthenticator implements Authenticator {
  readonly name = "hybrid";
  readonly #jwt: Authenticator;
  readonly #gateway: GatewayHeadersAuthenticator;

  constructor(jwt: Authenticator, gateway: GatewayHeadersAuthenticator) {
    this.#jwt = jwt;
    this.#gateway = gateway;
  }

  authenticate(
    request: AuthenticationRequest,
  ): Identity | undefined | Promise<Identity | undefined> {
    let found: Identity | undefined | Promise<Identity | undefined>;
    try {
      found = this.#jwt.authenticate(request);
    } catch (error) {
      return this.#fallBack(request, error);
    }
    if (found instanceof Promise) {
      return found.then(
        (identity) => this.#agree(request, identity),
        (error: unknown) => this.#fallBack(request, error),
      );
    }
    return this.#agree(request, found);
  }

  #agree(request: AuthenticationRequest, jwt: Identity | undefined): Identity | undefined {
    const gateway = this.#gateway.authenticate(request);
    if (jwt === undefined || gateway === undefined) return jwt ?? gateway;
    const isSame =
      jwt.principal.subjectId === gateway.principal.subjectId &&
      jwt.principal.subjectType === gateway.principal.subjectType;
    if (!isSame) {
      throw new ServiceError(
        "UNAUTHORIZED",
        "the token and the identity headers name different callers",
      );
    }
    return jwt;
  }

  #fallBack(request: AuthenticationRequest, error: unknown): Identity {
    const isNoToken =
      error instanceof ServiceError &&
      !(error instanceof BearerRefused) &&
      (error.code === "UNAUTHORIZED" || error.code === "UNAVAILABLE");
    const gateway = isNoToken ? this.#gateway.authenticate(request) : undefined;
    if (gateway === undefined) throw error;
    return gateway;
  }
}
