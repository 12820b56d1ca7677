import type { DescService } from "@bufbuild/protobuf";
import type { HttpRoute } from "../../binding/service-binding.ts";
import { type ServiceClient, typedClient } from "../call/typed-client.ts";
import { ClientChain } from "../chain/client-chain.ts";
import { type HttpClientOptions, HttpClientTransport } from "./http-transport.ts";

/**
 * A client of a service over HTTP, by its generated routes. RPCs with a stream of requests, and
 * those without a route, throw UNIMPLEMENTED. Errors are `ServiceError`s with the code of the
 * server.
 *
 * @param service - the service descriptor of protoc-gen-es
 * @param routes - the generated `…Routes` of the service
 * @throws TypeError if the base URL is not an HTTP URL, or `tls` is not PEM, does not match, or is
 * given without `https`; RangeError if a rate limit or a failure rate is not valid
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
  const chain = new ClientChain(new HttpClientTransport(routes, options), options, options.baseUrl);
  return typedClient(service, chain);
}
