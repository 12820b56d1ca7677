import { createHash } from "node:crypto";
import type { RawRequest, RawResponse } from "svc-access/runtime";
import { SECURITY_HEADERS } from "./security-headers.ts";

/** A picture that browsers show. */
export interface Picture {
  /** Its media type. */
  readonly type: string;
  readonly content: string | Uint8Array;
}

/** The path of the icon. */
export const ICON_PATH = "/v1/iam/ui/icon";

/** A keyhole. */
const OWN: Picture = {
  type: "image/svg+xml",
  content:
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b57d0"/><circle cx="16" cy="12.5" r="5" fill="#fff"/><path d="M13.5 15h5l1.5 9h-8z" fill="#fff"/></svg>',
};
/** An SVG picture has styles of its own; opened by itself, it runs no script. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

/** The icon that browsers show in the tabs of the pages: the logo, or a picture of our own. */
export class PageIcon {
  readonly #picture: Picture;
  readonly #version: string;

  constructor(picture: Picture = OWN) {
    this.#picture = picture;
    this.#version = createHash("sha256").update(picture.content).digest("base64url").slice(0, 16);
  }

  /** Its media type. */
  get type(): string {
    return this.#picture.type;
  }

  /** Its address: another one for each picture. */
  get address(): string {
    return `${ICON_PATH}?v=${this.#version}`;
  }

  /** The response to a request of its path. */
  response({ query }: Pick<RawRequest, "query">): RawResponse {
    return {
      status: 200,
      headers: {
        ...SECURITY_HEADERS,
        "Content-Type": this.#picture.type,
        "Content-Security-Policy": POLICY,
        "Cache-Control": this.#caching(query.get("v")),
      },
      body: this.#picture.content,
    };
  }

  #caching(version: string | null): string {
    // A replica with another configuration has another picture at this address.
    return version === this.#version ? "public, max-age=31536000, immutable" : "no-cache";
  }
}
