export type {
  AccessPolicies,
  AccessPolicy,
  AccessResource,
  AccessResourcePart,
} from "./access-policy.ts";
export type { CallContext } from "./call-context.ts";
export type {
  BidiStreamingHandler,
  ClientStreamingHandler,
  ServerStreamingHandler,
  UnaryHandler,
} from "./handler.ts";
export type { Principal } from "./principal.ts";
export {
  BINDING_FORMAT_VERSION,
  type HttpRoute,
  type HttpRouteVariable,
  type ServiceBinding,
} from "./service-binding.ts";
