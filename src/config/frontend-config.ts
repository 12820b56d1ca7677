import * as z from "zod/mini";
import { MAX_ORIGIN, ORIGIN } from "../common/origin.ts";
import {
  audience,
  backend,
  documented,
  host,
  httpUrl,
  identifiers,
  name,
  path,
  secret,
} from "./config-values.ts";

/** The keys that a frontend with a gateway login needs, and no other frontend may have. */
const SESSION_KEYS = ["client_id", "client_secret", "redirect_url", "logout_path"] as const;

/** The keys that only a frontend with pages may have. */
const PAGE_KEYS = ["backend", "deny_redirect"] as const;

const frontendKeys = z.strictObject({
  host: documented("The host that its users open.", host()),
  prefix: documented("The prefix of the paths of its pages.", z._default(path(), "/")),
  namespace: documented("The namespace of its routes and policies.", name()),
  services: documented(
    "The services whose published RPCs it calls.",
    z._default(z.array(name()), []),
  ),
  login: documented(
    "How callers authenticate. `session`: with a session cookie or a Bearer token; without either, the gateway logs them in (302). `bearer`: only with a Bearer token; without one, the response is 401; there are no pages, no login and no client.",
    z._default(z.enum(["session", "bearer"]), "session"),
  ),
  audiences: documented(
    "The audiences whose tokens are accepted; required with `login: bearer`, and only allowed there. A session accepts tokens for its `client_id`.",
    z.optional(identifiers(1, 8)),
  ),
  client_id: documented(
    "The client id at the identity provider; needed for the login.",
    z.optional(audience()),
  ),
  client_secret: documented(
    "The Secret whose key `client-secret` holds the client secret; needed for the login.",
    z.optional(secret()),
  ),
  redirect_url: documented(
    "The redirect URL, exactly as registered, including the port; needed for the login.",
    z.optional(httpUrl()),
  ),
  logout_path: documented(
    "The path that ends the session; needed for the login.",
    z.optional(path()),
  ),
  deny_redirect: documented(
    "Whether calls of scripts (fetch, XMLHttpRequest) without a session get a 401 response. By default, they are redirected to the login like all others (302).",
    z.optional(z.boolean()),
  ),
  claims: documented(
    "Which claims become headers: sub, email, name and preferred_username, or with console all.",
    z._default(z.enum(["default", "console"]), "default"),
  ),
  allowed_origins: documented(
    "Other origins whose pages call it with credentials (CORS). The edge enforces them, and so do its services, from their route documents.",
    z._default(
      z.array(
        z
          .string()
          .check(
            z.regex(ORIGIN, "must be an origin, such as https://app.example.com"),
            z.maxLength(MAX_ORIGIN),
          ),
      ),
      [],
    ),
  ),
  connect: documented(
    "Whether its host routes `POST /<package>.<Service>/<Method>` to the published RPCs, for Connect and gRPC-Web clients.",
    z._default(z.boolean(), false),
  ),
  backend: documented("The backend of its pages; absent if it has none.", z.optional(backend())),
});

/** The schema of `frontends.<name>`. */
export const frontend = frontendKeys.check(
  z.check(({ value, issues }) => {
    const add = (key: string, message: string, input: unknown) =>
      issues.push({ code: "custom", message, input, path: [key] });
    if (value.login === "session") {
      for (const key of SESSION_KEYS) if (value[key] === undefined) add(key, "", undefined);
      if (value.audiences !== undefined) {
        add(
          "audiences",
          "is only for login: bearer; a session accepts tokens for its client_id",
          value,
        );
      }
      return;
    }
    if (value.audiences === undefined) add("audiences", "", undefined);
    for (const key of [...SESSION_KEYS, ...PAGE_KEYS]) {
      if (value[key] !== undefined) add(key, NOT_WITH_BEARER, value);
    }
    if (value.prefix !== "/") add("prefix", NOT_WITH_BEARER, value);
  }),
);

const NOT_WITH_BEARER =
  "contradicts login: bearer, which has no pages and no login; remove it, or write login: session";

// The check above as JSON Schema, for editors.
z.globalRegistry.add(frontend, {
  if: { required: ["login"], properties: { login: { const: "bearer" } } },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: {
    required: ["audiences"],
    properties: Object.fromEntries([...SESSION_KEYS, ...PAGE_KEYS].map((key) => [key, false])),
  },
  else: { required: [...SESSION_KEYS], properties: { audiences: false } },
});

/** A frontend of the platform configuration. */
export type FrontendConfig = z.infer<typeof frontend>;
