import { ServiceError } from "svc-access/runtime";

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
