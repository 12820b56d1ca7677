import { readFileSync } from "node:fs";
import * as z from "zod/mini";
import { ROUTE_SCHEMA_VERSION, type RouteDocument, type RouteEntry } from "../../api/format.ts";
import { RISK_LEVELS } from "../../api/policy.ts";
import { MAX_ORIGIN, ORIGIN } from "../../common/origin.ts";
import { StartUpError } from "../error/start-up-error.ts";

const text = () => z.string().check(z.minLength(1), z.maxLength(4096));

// Not strict: members that a later writer adds within a version are ignored.
const entrySchema = z.object({
  schemaVersion: z.literal(ROUTE_SCHEMA_VERSION),
  service: z.string().check(z.maxLength(4096)),
  rpc: z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_.]*\/[A-Za-z_][A-Za-z0-9_]*$/)),
  stream: z.enum(["unary", "server_streaming", "client_streaming", "bidi_streaming"]),
  deprecated: z.optional(z.literal(true)),
  exposure: z.enum(["PUBLIC", "AUTHENTICATED", "AUTHORIZED", "INTERNAL", "SYSTEM"]),
  authz: z.optional(
    z.object({ action: text(), resource: text(), audience: text(), mode: z.literal("CHECK_ONLY") }),
  ),
  audit: z.optional(z.object({ event: text(), riskLevel: text(), resource: z.optional(text()) })),
  rateLimit: z.optional(
    z.object({ qps: z.int().check(z.minimum(1)), burst: z.int().check(z.minimum(1)) }),
  ),
  gateway: z.object({ publish: z.boolean(), methods: z.array(text()) }),
  http: z.array(
    z.object({
      method: text(),
      path: z.string().check(z.startsWith("/"), z.maxLength(4096)),
      body: z.optional(z.string()),
      responseBody: z.optional(z.string()),
    }),
  ),
});

const pathSchema = z.object({
  path: z.string().check(z.startsWith("/"), z.maxLength(4096)),
  match: z.enum(["exact", "prefix"]),
  methods: z.array(text()),
  exposure: z.enum(["PUBLIC", "AUTHENTICATED"]),
  audit: z.optional(z.object({ event: text(), riskLevel: z.enum(RISK_LEVELS) })),
  rateLimit: z.optional(
    z.object({ qps: z.int().check(z.minimum(1)), burst: z.int().check(z.minimum(1)) }),
  ),
});

const documentSchema = z.object({
  schemaVersion: z.literal(ROUTE_SCHEMA_VERSION),
  service: z.string(),
  keyPrefix: z.string(),
  routes: z.array(
    z.object({ key: z.string().check(z.regex(/^[^/]*\/[^/]+\/[^/]+$/)), entry: entrySchema }),
  ),
  // Documents that were generated before paths were in them have none.
  paths: z._default(z.array(pathSchema), []),
  // A reader that does not know them refuses these origins, so the version stays.
  allowedOrigins: z.optional(
    z.array(z.string().check(z.regex(ORIGIN), z.maxLength(MAX_ORIGIN))).check(z.maxLength(4096)),
  ),
});

/** A value of the registry or a file that cannot be used, and why. */
export class RouteEntryError extends Error {
  override readonly name = "RouteEntryError";
}

/**
 * Reads the value of a key of the registry (docs/requirements.md, REG-1). What a later writer has added
 * within the version is left out.
 *
 * @param value - the text of the value, JSON
 * @throws RouteEntryError if it is not JSON, of a version that is not known, or no route
 *
 * @example
 * ```ts
 * const { rpc, exposure, gateway } = parseRouteEntry(value);
 * if (gateway.publish) console.log(rpc, exposure);
 * ```
 */
export function parseRouteEntry(value: string): RouteEntry {
  const entry = read(entrySchema, value, "the entry") as RouteEntry;
  // An entry that would skip a required check is refused.
  if ((entry.exposure === "AUTHORIZED") !== (entry.authz !== undefined)) {
    throw new RouteEntryError("the entry has authz if, and only if, its exposure is AUTHORIZED");
  }
  return entry;
}

/**
 * Reads a generated document of routes (`routes/<service>.json`) from its text; `readRouteDocument` reads
 * the file.
 *
 * @param text - the content of the file, JSON
 * @throws RouteEntryError if it is not valid
 *
 * @example
 * ```ts
 * const { service, routes } = parseRouteDocument(readFileSync("gen/routes/notes.json", "utf8"));
 * for (const { entry } of routes) console.log(service, entry.rpc, entry.exposure);
 * ```
 */
export function parseRouteDocument(text: string): RouteDocument {
  return read(documentSchema, text, "the route document") as unknown as RouteDocument;
}

/**
 * Checks a document of routes that a program gives, as one that is read.
 *
 * @throws RouteEntryError if it is not valid
 */
function checkRouteDocument(document: unknown): RouteDocument {
  return check(documentSchema, document, "the route document") as unknown as RouteDocument;
}

function read(schema: z.ZodMiniType, text: string, what: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RouteEntryError(`${what} is not JSON`);
  }
  return check(schema, value, what);
}

function check(schema: z.ZodMiniType, value: unknown, what: string): unknown {
  const version = (value as { schemaVersion?: unknown } | null)?.schemaVersion;
  if (version !== ROUTE_SCHEMA_VERSION) {
    const said = typeof version === "number" ? ` ${version}` : "";
    throw new RouteEntryError(
      `${what} has the schema version${said || " none"}, not ${ROUTE_SCHEMA_VERSION}`,
    );
  }
  const { error, data } = schema.safeParse(value);
  if (error === undefined) return data;
  const [issue] = error.issues;
  throw new RouteEntryError(`${what} is wrong at ${issue?.path.join(".")}: ${issue?.message}`);
}

/**
 * Reads a generated document of routes (`routes/<service>.json`).
 *
 * @param file - its path, absolute or relative to the working folder
 * @throws StartUpError if the file cannot be read or is not valid
 *
 * @example
 * ```ts
 * const routes = readRouteDocument("gen/routes/notes.json");
 * ```
 */
export function readRouteDocument(file: string): RouteDocument {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartUpError(
      [
        `the routes ${file} cannot be read (${code}): run buf generate, and name the routes/<service>.json that it writes`,
      ],
      { cause: error },
    );
  }
  try {
    return parseRouteDocument(text);
  } catch (error) {
    throw new StartUpError(
      [
        `the routes ${file} cannot be used: ${(error as Error).message}: run buf generate with the same version of svc-access`,
      ],
      { cause: error },
    );
  }
}

/**
 * The document of routes that a server is given, checked like a file: who made it by hand, or read it
 * by other means, must not allow origins or paths that no file could.
 *
 * @throws StartUpError if it is not valid
 */
export function givenRouteDocument(document: RouteDocument): RouteDocument {
  try {
    return checkRouteDocument(document);
  } catch (error) {
    throw new StartUpError(
      [
        `the routes cannot be used: ${(error as Error).message}: pass the result of readRouteDocument for the routes/<service>.json of buf generate`,
      ],
      { cause: error },
    );
  }
}
