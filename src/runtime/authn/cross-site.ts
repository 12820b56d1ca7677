import type { Call } from "../call/call.ts";
import { single } from "../call/call-headers.ts";
import { credentialTraits } from "../call/credential-kinds.ts";
import { ServiceError } from "../error/service-error.ts";

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
const ORIGIN = /^(https?):\/\/([^/?#@\\\s]+)$/;
const DEFAULT_PORT = { http: ":80", https: ":443" } as const;

/**
 * Refuses requests that another site makes a browser send in the name of its user
 * (docs/requirements.md, HDR-9): an unsafe method, or a write with any method, whose identity the
 * browser sent automatically, from a cookie or from the gateway's session.
 */
export class CrossSiteGuard {
  readonly #allowedOrigins: ReadonlySet<string | undefined>;

  /** @param allowedOrigins those of the CORS configuration */
  constructor(allowedOrigins: readonly string[]) {
    this.#allowedOrigins = new Set(allowedOrigins.map(normalOrigin));
  }

  /** @throws ServiceError FORBIDDEN if another site caused the call */
  check(call: Call): void {
    // Also over gRPC: a page of another site can send it to an HTTP port, though it cannot read the
    // response.
    if (isSafe(call)) return;
    const { credential, headers } = call;
    const { sentByBrowser } = credentialTraits(credential);
    const isForwarded = sentByBrowser === "ifForwarded" && call.peerIsTrusted;
    if (sentByBrowser !== "always" && !isForwarded) return;
    const origins = headers.all("origin");
    const sites = headers.all("sec-fetch-site");
    // Browsers hide the origin of a page with `Referrer-Policy: no-referrer`, but not its site.
    const mayHide = sites.length === 1 && sites[0] === "same-origin";
    const isOwn = (origin: string) => this.#isOwn(origin, call) || (mayHide && origin === "null");
    if (!origins.every(isOwn)) throw crossSite();
    const isCrossSite = sites.some((site) => /cross-site/i.test(site));
    if (isCrossSite && !(isForwarded && origins.length > 0)) throw crossSite();
  }

  #isOwn(text: string, call: Call): boolean {
    const origin = normalOrigin(text);
    if (origin === undefined) return false;
    if (this.#allowedOrigins.has(origin)) return true;
    const { headers } = call;
    // X-Forwarded-Host is ignored: the gateway passes on the requested host.
    const host = single(headers, "host") ?? single(headers, ":authority");
    if (host === undefined) return false;
    const scheme = origin.startsWith("https:") ? "https" : "http";
    const proto = call.peerIsTrusted ? single(headers, "x-forwarded-proto") : undefined;
    if (proto !== undefined && proto.toLowerCase() !== scheme) return false;
    return normalOrigin(`${scheme}://${host}`) === origin;
  }
}

/** An RPC that is also bound to GET is still a write. */
function isSafe({ method, httpMethod }: Call): boolean {
  return SAFE_METHODS.has(httpMethod) && (method.kind === "raw" || !method.isWrite);
}

/** In lower case and without the default port; undefined if it is not an origin, as `null`. */
function normalOrigin(text: string): string | undefined {
  const match = ORIGIN.exec(text.toLowerCase());
  if (match === null) return undefined;
  const scheme = match[1] as "http" | "https";
  const host = match[2] as string;
  const port = DEFAULT_PORT[scheme];
  return `${scheme}://${host.endsWith(port) ? host.slice(0, -port.length) : host}`;
}

function crossSite(): ServiceError {
  return new ServiceError("FORBIDDEN", "the request comes from another site");
}
