import type { DescService } from "@bufbuild/protobuf";
import type { HttpRoute } from "../../binding/service-binding.ts";
import { type ServiceClient, typedClient } from "../call/typed-client.ts";
import { ClientChain } from "../chain/client-chain.ts";
import { type HttpClientOptions, HttpTransport } from "./http-transport.ts";

/**
 * A client of a service over HTTP, by its generated routes. RPCs with a stream of
 * requests, and those without a route, throw UNIMPLEMENTED. Errors are `ServiceError`s
 * with the code that the server gave.
 *
 * @example
 * const skills = createHttpClient(SkillService, SkillServiceRoutes, { baseUrl: "http://hub:18001" });
 * const { skill } = await skills.getSkill({ skillId: "s1" }, { context });
 */
export function createHttpClient<Service extends DescService>(
  service: Service,
  routes: readonly HttpRoute[],
  options: HttpClientOptions,
): ServiceClient<Service> {
  const chain = new ClientChain(new HttpTransport(routes, options), options, options.baseUrl);
  return typedClient(service, chain);
}
