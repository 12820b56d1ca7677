import type { ServiceError } from "../error/service-error.ts";

const unsent = new WeakSet<ServiceError>();

/** Notes that of the failed call certainly nothing reached the server. */
export function markUnsent(error: ServiceError): ServiceError {
  unsent.add(error);
  return error;
}

/** Whether certainly nothing reached the server: then any call may be tried again. */
export function isUnsent(error: ServiceError): boolean {
  return unsent.has(error);
}
