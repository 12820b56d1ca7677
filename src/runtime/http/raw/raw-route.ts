import type { IncomingMessage, ServerResponse } from "node:http";
import { formatSegment, parsePathTemplate, plainPath } from "../../../api/path-template.ts";
import type { BoundMethod } from "../../binding/bound-method.ts";
import type { CallHeaders } from "../../call/call-headers.ts";
import { ServiceError } from "../../error/service-error.ts";
import { StartUpError } from "../../error/start-up-error.ts";
import { callHeaders } from "../exchange/call-response-headers.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { queryParameters } from "../routing/request-target.ts";
import type { RoutedRequest, RouteService } from "../routing/route-service.ts";
import type { RouteShape } from "../routing/router.ts";
import { readBodyOf } from "../routing/rpc-route.ts";
import { requireIdentity } from "../transcoding/content-type.ts";
import { errorForm } from "./error-form.ts";
import { type AnsweredRequest, recordReplacement } from "./raw-answer.ts";
import type { RawPath, RawResponse, RenderError } from "./raw-handler.ts";
import { requireBody, requireStatus } from "./raw-response.ts";
import { replaceHeaders } from "./replace-headers.ts";
import { countWritten, type Written } from "./written-bytes.ts";

/** A raw handler that is bound, and the path that it serves. */
export interface RawMethod {
  readonly method: BoundMethod;
  readonly path: RawPath;
  readonly renderError?: RenderError | undefined;
}

/**
 * The routes of a declared path, one for each HTTP method. A prefix is a template that ends in
 * `**`, so it only serves requests that no narrower route serves.
 *
 * @throws StartUpError if the path is not valid
 */
export function rawShapes({ path, match, methods }: RawPath): RouteShape[] {
  const parsed = parsePathTemplate(plainPath(path, match));
  if (parsed.template === undefined) throw new StartUpError([`${path}: ${parsed.error}`]);
  const { segments, verb } = parsed.template;
  const texts = segments.map(formatSegment);
  if (match === "prefix") texts.push("**");
  return methods.map((method) => {
    return { segments: texts, method, ...(verb === undefined ? {} : { verb }) };
  });
}

/**
 * Serves a raw handler: through the chain like any call, but with HTTP requests and responses as
 * messages.
 */
export function rawRoute({ method, renderError }: RawMethod, maxBodyBytes: number): RouteService {
  return {
    method,
    path: method.rpc,
    read(routed) {
      const { response, requestId } = routed.exchange;
      // For handlers that write to it themselves.
      response.setHeader("X-Request-ID", requestId);
      response.setHeader("X-Content-Type-Options", "nosniff");
      return new ArrivedRawRequest(routed, maxBodyBytes);
    },
    encode(response, call) {
      recordReplacement(call, response);
      return response;
    },
    write: (exchange, response) => writeRaw(exchange, response as RawResponse | undefined),
    ...(renderError === undefined ? {} : { errorForm: errorForm(renderError) }),
  };
}

function writeRaw(exchange: Exchange, answer: RawResponse | undefined): void {
  const { response } = exchange;
  if (answer === undefined) {
    if (response.headersSent || response.writableEnded) return exchange.leaveWhenSent();
    // Otherwise nobody would respond.
    throw new Error(`the handler of ${exchange.call?.rpc} returned nothing and wrote nothing`);
  }
  if (response.headersSent) {
    throw new Error(`the handler of ${exchange.call?.rpc} returned a response and wrote one`);
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  const headers = callHeaders(exchange.call, undefined);
  replaceHeaders(exchange, headers, answer.headers);
  const { status, body = "" } = answer;
  requireStatus("a raw handler", status, 200);
  requireBody("a raw handler", body);
  exchange.send(status, BODILESS.has(status) ? "" : body, headers);
}

/** Statuses whose responses have no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

class ArrivedRawRequest implements AnsweredRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: CallHeaders;
  readonly incoming: IncomingMessage;
  namedCause: unknown;
  readonly #routed: RoutedRequest;
  readonly #response: ServerResponse;
  readonly #limit: number;
  #written: Written | undefined;
  #query: URLSearchParams | undefined;
  #body: Promise<Buffer> | undefined;

  constructor(routed: RoutedRequest, limit: number) {
    const { incoming, response, headers, call } = routed.exchange;
    this.method = incoming.method ?? "";
    this.path = routed.path;
    // After the metadata stage: without headers that only a trusted peer may send.
    this.headers = call?.headers ?? headers;
    if (this.headers !== headers) hideFrom(incoming, new Set(this.headers.names()));
    this.incoming = incoming;
    this.#response = response;
    this.#routed = routed;
    this.#limit = limit;
  }

  get query(): URLSearchParams {
    return (this.#query ??= queryParameters(this.#routed.query));
  }

  /** Only handlers that use it can write to it. */
  get response(): ServerResponse {
    this.#written ??= countWritten(this.#response);
    return this.#response;
  }

  get written(): Written | undefined {
    return this.#written;
  }

  nameCause(error: unknown): void {
    this.namedCause = error;
  }

  body(): Promise<Uint8Array> {
    return (this.#body ??= this.#read());
  }

  async #read(): Promise<Buffer> {
    requireIdentity(this.headers);
    if (this.incoming.readableDidRead) {
      throw new ServiceError("INTERNAL", undefined, {
        cause: new Error("the body was already read"),
      });
    }
    const { exchange } = this.#routed;
    const body = await readBodyOf(exchange, this.#limit);
    exchange.account.take(body.length);
    return body;
  }
}

/** Removes from Node's own request what the call does not have, since libraries read that one. */
function hideFrom(incoming: IncomingMessage, kept: ReadonlySet<string>): void {
  const { rawHeaders: raw, headers, headersDistinct } = incoming;
  // HTTP/2 has the request line in pseudo-headers, whose names no other header can have.
  const isKept = (name: string): boolean => kept.has(name) || name.startsWith(":");
  incoming.rawHeaders = raw.filter((_, index) => isKept((raw[index & ~1] as string).toLowerCase()));
  for (const table of [headers, headersDistinct]) {
    for (const name of Object.keys(table)) if (!isKept(name)) delete table[name];
  }
}
