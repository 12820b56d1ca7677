import * as z from "zod/mini";
import { AUDIT_EVENT_NAME, MAX_AUDIT_EVENT_NAME, RISK_LEVELS } from "../api/policy.ts";
import { documented, name, path } from "./config-values.ts";

/** `rate_limit` of an RPC has 32 bits. */
const MAX_RATE = 2_147_483_647;

const pathAudit = z.strictObject({
  event: documented(
    "The name of the event, such as `hook.receive`.",
    z
      .string()
      .check(
        z.regex(AUDIT_EVENT_NAME, "must be lower-case words joined by dots, such as hook.receive"),
        z.maxLength(MAX_AUDIT_EVENT_NAME),
      ),
  ),
  risk_level: documented(
    "How much harm the request can do.",
    z._default(z.enum(RISK_LEVELS), "LOW"),
  ),
});

const pathRateLimit = z
  .strictObject({
    qps: documented(
      "The requests per second of one caller.",
      z.int().check(z.minimum(1), z.maximum(MAX_RATE)),
    ),
    burst: documented(
      "The size of the bucket; the default is `qps`.",
      z.optional(z.int().check(z.minimum(1), z.maximum(MAX_RATE))),
    ),
  })
  .check(
    z.refine(({ qps, burst }) => burst === undefined || burst >= qps, {
      error: "must be at least qps",
      path: ["burst"],
    }),
  );

/** An entry of `paths`. */
export const declaredPath = z
  .strictObject({
    service: documented("The service that serves it.", z.optional(name())),
    frontend: documented("The frontend that serves it.", z.optional(name())),
    path: documented("The path.", path()),
    match: documented(
      "Whether only the path itself matches, or all paths below it too.",
      z._default(z.enum(["exact", "prefix"]), "exact"),
    ),
    methods: documented(
      "The HTTP methods; `*` for all.",
      z._default(
        z
          .array(
            z
              .string()
              .check(z.regex(/^(\*|[A-Z]+)$/, "must be an HTTP method in upper case, or *")),
          )
          .check(z.minLength(1)),
        ["GET"],
      ),
    ),
    exposure: documented(
      "Who may open it; other exposure levels need an RPC.",
      z.enum(["PUBLIC", "AUTHENTICATED"]),
    ),
    audit: documented(
      "The audit event of a request; only for a path of a service.",
      z.optional(pathAudit),
    ),
    rate_limit: documented(
      "The rate limit of one caller; only for a path of a service.",
      z.optional(pathRateLimit),
    ),
  })
  .check(
    z.refine((value) => (value.service === undefined) !== (value.frontend === undefined), {
      error: "must have either service or frontend",
    }),
    z.refine((value) => value.frontend === undefined || value.audit === undefined, {
      error: "needs a service that enforces it; a path of a frontend cannot have one",
      path: ["audit"],
    }),
    z.refine((value) => value.frontend === undefined || value.rate_limit === undefined, {
      error: "needs a service that enforces it; a path of a frontend cannot have one",
      path: ["rate_limit"],
    }),
  );
