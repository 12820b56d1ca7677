import { ServiceError } from "svc-access/runtime";

/** Why an RPC is not implemented that a later version has. */
export const LATER = "this version of svc-iam does not implement it yet";

/** Handlers of a service whose RPCs are not implemented: each call is answered with UNIMPLEMENTED. */
export function unimplemented<Handlers extends object>(why: string): Handlers {
  return new Proxy(
    {},
    {
      get: () => () => {
        throw new ServiceError("UNIMPLEMENTED", why);
      },
    },
  ) as Handlers;
}
