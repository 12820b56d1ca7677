import {
  CORS_METHODS,
  CORS_REQUEST_HEADERS,
  EXPOSED_HEADERS,
  RPC_EXPOSED_HEADERS,
  RPC_REQUEST_HEADERS,
} from "../../../api/cors-headers.ts";
import { type CallHeaders, single } from "../../call/call-headers.ts";

/** Which other origins may call (the `cors` of the configuration). */
export interface CorsConfig {
  readonly allowed_origins: readonly string[];
  readonly max_age_seconds: number;
}

const METHODS = CORS_METHODS.join(", ");
const HEADERS = [...CORS_REQUEST_HEADERS, ...RPC_REQUEST_HEADERS].join(", ");
const EXPOSED = [...EXPOSED_HEADERS, ...RPC_EXPOSED_HEADERS].join(", ");

/**
 * Cross-origin requests. An origin is allowed if the list contains exactly this origin: no suffix,
 * no pattern, never `null` and never `*`: browsers send credentials with these requests.
 */
export class Cors {
  readonly #origins: ReadonlySet<string>;
  readonly #maxAge: string;

  constructor({ allowed_origins, max_age_seconds }: CorsConfig) {
    this.#origins = new Set(allowed_origins);
    this.#maxAge = String(max_age_seconds);
  }

  /** Whether any other origin may call; otherwise responses do not vary by origin. */
  get isEnabled(): boolean {
    return this.#origins.size > 0;
  }

  /** Whether a request is a preflight: browsers send it before the call itself. */
  isPreflight(method: string, headers: CallHeaders): boolean {
    return (
      method === "OPTIONS" &&
      headers.all("origin").length > 0 &&
      headers.all("access-control-request-method").length > 0
    );
  }

  /**
   * The headers of a response, names and values in turn.
   *
   * @param own names of further headers that the page may read: with credentials there is no wildcard
   */
  responseHeaders(headers: CallHeaders, own: readonly string[] = []): string[] {
    if (!this.isEnabled) return [];
    const origin = this.#allowedOrigin(headers);
    if (origin === undefined) return ["Vary", "Origin"];
    return [
      "Vary",
      "Origin",
      "Access-Control-Allow-Origin",
      origin,
      "Access-Control-Allow-Credentials",
      "true",
      "Access-Control-Expose-Headers",
      own.length === 0 ? EXPOSED : [EXPOSED, ...own].join(", "),
    ];
  }

  /** Further headers of the response to a preflight; undefined if its origin is not allowed. */
  preflightHeaders(headers: CallHeaders): string[] | undefined {
    if (this.#allowedOrigin(headers) === undefined) return undefined;
    return [
      "Access-Control-Allow-Methods",
      METHODS,
      "Access-Control-Allow-Headers",
      HEADERS,
      "Access-Control-Max-Age",
      this.#maxAge,
    ];
  }

  #allowedOrigin(headers: CallHeaders): string | undefined {
    const origin = single(headers, "origin");
    return origin !== undefined && this.#origins.has(origin) ? origin : undefined;
  }
}
