import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { ServiceError } from "../../error/service-error.ts";
import type { Dispatcher } from "./dispatcher.ts";

/**
 * The requests of another server: they are served from the start of this server until its end, and
 * refused before and after, since its engine, audit and keys are not available then.
 */
export class ForeignServerListener {
  /** The listener for HTTP/1 requests. */
  readonly listener: RequestListener;
  readonly #dispatcher: Dispatcher;
  readonly #underWay = new Set<ServerResponse>();
  #isServing = false;

  constructor(dispatcher: Dispatcher) {
    this.#dispatcher = dispatcher;
    this.listener = (request, response) => this.#take(request, response);
  }

  /** Serves from now on. */
  begin(): void {
    this.#isServing = true;
  }

  /** Stops serving, and ends requests under way at once, with their connections. */
  end(): void {
    this.#isServing = false;
    for (const response of this.#underWay) response.destroy();
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    // A handler that has begun a response continues.
    if (response.headersSent || response.destroyed) return;
    if (request.httpVersionMajor === 2) return refuseHttp2(response);
    this.#underWay.add(response);
    response.once("close", () => this.#underWay.delete(response));
    const refusal = this.#refusal(request);
    // Node has sent 100-continue if nobody listens to that event.
    delete request.headers.expect;
    this.#dispatcher.dispatch(request, response, refusal);
  }

  #refusal(request: IncomingMessage): ServiceError | undefined {
    if (!this.#isServing) return new ServiceError("UNAVAILABLE", "the server is not started");
    if (!request.readableDidRead) return undefined;
    return ServiceError.of(
      500,
      "BODY_ALREADY_READ",
      "the body was read before the request listener got the request: do not run a body parser before it",
    );
  }
}

/**
 * Its compatibility API differs from `node:http` where it matters to policies: in duplicate
 * headers, and in connections.
 */
function refuseHttp2(response: ServerResponse): void {
  response.writeHead(505, { "content-type": "text/plain; charset=utf-8" });
  response.end("this request listener serves HTTP/1.1; the server's own port serves HTTP/2\n");
}
