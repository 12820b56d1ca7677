import { ServiceError } from "./service-error.ts";

/** One object for all: it says nothing of its own. */
const INTERNAL = new ServiceError("INTERNAL");

/** An error as callers are told it; of INTERNAL nothing, whoever threw it. */
export function toldError(thrown: ServiceError): ServiceError {
  return thrown.code === INTERNAL.code ? INTERNAL : thrown;
}

/** In how many whole seconds the caller may try again, as `Retry-After` has it; undefined where that is not said. */
export function retryAfter({ retryAfterSeconds }: ServiceError): string | undefined {
  if (retryAfterSeconds === undefined) return undefined;
  return String(Math.max(0, Math.ceil(retryAfterSeconds)));
}
