import type { Model } from "svc-access/authz";
import { didYouMean } from "svc-access/runtime";
import * as z from "zod";
import type { ConfigProblem } from "./config-problem.ts";

const MAX_SERVICES = 1024;
const MAX_TYPES = 1024;
/** All types, in `read_types`. */
export const ALL_TYPES = "*";
/** Who belongs where, and who administers it: these relationships have rules of their own. */
export const NEVER_WRITTEN: ReadonlySet<string> = new Set(["zone", "group"]);

const typeName = z
  .string()
  .regex(
    /^[a-z][a-z0-9_]{0,62}[a-z0-9](?:\/[a-z][a-z0-9_]{0,62}[a-z0-9])?$/,
    "must be the name of a type of the model",
  );

const writtenType = typeName.refine(
  (type) => !NEVER_WRITTEN.has(type),
  "must not be zone or group: services never write their relationships",
);

/** What one service may do with its internal token. */
const service = z.strictObject({
  /** The types whose relationships it writes. */
  write_types: z.array(writtenType).max(MAX_TYPES).default([]),
  /** The types that it checks and whose relationships it reads; `*` for all. */
  read_types: z
    .array(z.union([z.literal(ALL_TYPES), typeName]))
    .max(MAX_TYPES)
    .default([]),
  /** Whether it may exchange codes of logins for tokens, and refresh them. */
  may_exchange_tokens: z.boolean().default(false),
});

/** What services may do, by the name that their internal tokens have. */
export const servicesConfig = z
  .record(
    z.string().regex(/^[\x21\x22\x24-\x29\x2b-\x7e]{1,256}$/, "must be the name of a service"),
    service,
  )
  .refine((services) => Object.keys(services).length <= MAX_SERVICES, {
    message: `must have at most ${MAX_SERVICES} services`,
  })
  .default({});

/** What services may do, as it is read. */
export type ServicesConfig = z.output<typeof servicesConfig>;

/** Yields a problem for each type of `iam.services` that the model does not have. */
export function* unknownTypes(
  services: ServicesConfig,
  { definitions }: Pick<Model, "definitions">,
): Iterable<ConfigProblem> {
  for (const [name, service] of Object.entries(services)) {
    for (const list of ["read_types", "write_types"] as const) {
      for (const [index, type] of service[list].entries()) {
        if (type === ALL_TYPES || definitions.has(type)) continue;
        const hint = didYouMean(type, definitions.keys());
        const message = `iam.services.${name}.${list}: the model has no type ${type}${hint}`;
        yield { path: ["iam", "services", name, list, index], message };
      }
    }
  }
}
