import type { DescService } from "@bufbuild/protobuf";
import type { HttpRoute } from "../runtime/binding/service-binding.ts";
import { createGrpcClient, createHttpClient, type ServiceClient } from "../runtime/client/index.ts";
import { identityHeadersOf, type TestCaller } from "./caller.ts";
import type { TestTokens } from "./test-config.ts";
import type { TestCalls } from "./test-server.ts";

/** Where calls go, and what they may carry. */
export interface CallsOptions {
  readonly httpUrl: string;
  readonly grpcTarget: string;
  readonly tokens: TestTokens;
  /** The header of internal tokens. */
  readonly header: string;
}

/** A test checks the first response, whatever it is. */
const AT_ONCE = { retry: false, circuitBreaker: false } as const;

/** Makes the calls of all callers of one server, and closes their clients. */
export class CallsOf {
  readonly #options: CallsOptions;
  readonly #clients: AsyncDisposable[] = [];

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  of(caller: TestCaller): TestCalls {
    const { httpUrl, grpcTarget } = this.#options;
    const headers = Object.freeze(this.#headersOf(caller));
    const options = { ...AT_ONCE, metadata: headers };
    return {
      headers,
      fetch: (path, init = {}) => {
        const all = new Headers(headers);
        for (const [name, value] of new Headers(init.headers)) all.set(name, value);
        return fetch(new URL(path, served(httpUrl, "http")), { ...init, headers: all });
      },
      grpc: <Service extends DescService>(service: Service) => {
        const target = served(grpcTarget, "grpc");
        return this.#closed(createGrpcClient(service, { ...options, target }));
      },
      http: <Service extends DescService>(service: Service, routes: readonly HttpRoute[]) => {
        const baseUrl = served(httpUrl, "http");
        return this.#closed(createHttpClient(service, routes, { ...options, baseUrl }));
      },
    };
  }

  async close(): Promise<void> {
    const closing = this.#clients.splice(0).map((client) => client[Symbol.asyncDispose]());
    for (const closed of await Promise.allSettled(closing)) {
      if (closed.status === "rejected") throw closed.reason;
    }
  }

  #closed<Service extends DescService>(client: ServiceClient<Service>): ServiceClient<Service> {
    this.#clients.push(client);
    return client;
  }

  #headersOf(caller: TestCaller): Record<string, string> {
    const { tokens, header } = this.#options;
    if (caller === "nobody") return {};
    if (caller === "system") return { [header.toLowerCase()]: tokens.system };
    if ("user" in caller) return identityHeadersOf(caller);
    const token = tokens.services.get(caller.service);
    if (token !== undefined) return { [header.toLowerCase()]: token };
    throw new TypeError(
      `the service ${caller.service} has no token: startTestServer(bindings, {services: ["${caller.service}"]})`,
    );
  }
}

function served(address: string, name: string): string {
  if (address !== "") return address;
  throw new TypeError(`server.${name} is not served: the configuration of the test removes it`);
}
