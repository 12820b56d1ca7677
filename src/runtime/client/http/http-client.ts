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
 * @param service - the service descriptor of protoc-gen-es
 * @param routes - the generated `…Routes` of the service
 * @throws TypeError where the base URL is no URL of HTTP, or `tls` has what is not PEM, does not belong
 * together, or is given without `https`; RangeError where a rate limit or a failure rate is none
 *
 * @example
 * ```ts
 * const notes = createHttpClient(NotesService, NotesServiceRoutes, { baseUrl: "http://notes:18010" });
 * const { version } = await notes.getVersion({}, { context });
 * ```
 */
export function createHttpClient<Service extends DescService>(
  service: Service,
  routes: readonly HttpRoute[],
  options: HttpClientOptions,
): ServiceClient<Service> {
  const chain = new ClientChain(new HttpTransport(routes, options), options, options.baseUrl);
  return typedClient(service, chain);
}
