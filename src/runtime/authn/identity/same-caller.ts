import type { Call } from "../../call/call.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { Authenticator, Identity } from "./authenticator.ts";

/**
 * Refuses two credentials of one call that name different callers: which of them the caller meant
 * is not known (docs/requirements.md, AUTHN-15).
 *
 * @param names what the credentials are, for the message
 * @throws ServiceError UNAUTHORIZED if they differ
 */
export function assertSameCaller(one: Identity, other: Identity, names: string): void {
  const [a, b] = [one.principal, other.principal];
  if (a.subjectId === b.subjectId && a.subjectType === b.subjectType) return;
  throw new ServiceError("UNAUTHORIZED", `${names} name different callers`);
}

/** What is done with the errors of the other authenticators. */
export interface OtherCredentials {
  /** Those that were not called yet. */
  readonly others: readonly Authenticator[];
  /** Called for a credential that is not valid, and so names nobody. */
  readonly ignored: (authenticator: Authenticator) => void;
  /** Called for an error that decides the call; it throws, or lets the call continue without a caller. */
  readonly refused: (authenticator: Authenticator, error: unknown) => void;
}

/**
 * Calls the other authenticators for a call whose caller was identified.
 *
 * @returns whether none of them names another caller; a promise only if one of them must wait
 */
export function isNamedAlike(
  call: Call,
  identity: Identity,
  { others, ignored, refused }: OtherCredentials,
): boolean | Promise<boolean> {
  const failed = (authenticator: Authenticator, error: unknown): boolean => {
    if (error instanceof ServiceError && error.code === "UNAUTHORIZED") {
      ignored(authenticator);
      return true;
    }
    refused(authenticator, error);
    return false;
  };
  const compared = (authenticator: Authenticator, other: Identity | undefined): boolean => {
    if (other === undefined) return true;
    try {
      assertSameCaller(identity, other, "the credentials of the call");
      return true;
    } catch (error) {
      refused(authenticator, error);
      return false;
    }
  };
  const from = (first: number): boolean | Promise<boolean> => {
    for (let index = first; index < others.length; index++) {
      const authenticator = others[index] as Authenticator;
      let found: Identity | undefined | Promise<Identity | undefined>;
      try {
        found = authenticator.authenticate(call);
      } catch (error) {
        if (!failed(authenticator, error)) return false;
        continue;
      }
      if (found instanceof Promise) {
        return found
          .then(
            (other) => compared(authenticator, other),
            (error: unknown) => failed(authenticator, error),
          )
          .then((isAlike) => isAlike && from(index + 1));
      }
      if (!compared(authenticator, found)) return false;
    }
    return true;
  };
  return from(0);
}
