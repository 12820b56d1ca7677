import type { Model } from "svc-access/authz";
import { ALL_TYPES, type ServicesConfig } from "./services-config.ts";

/** Yields a line for each type of `iam.services` that the model does not have. */
export function* unknownTypes(
  services: ServicesConfig,
  { definitions }: Pick<Model, "definitions">,
): Iterable<string> {
  for (const [name, service] of Object.entries(services)) {
    for (const list of ["read_types", "write_types"] as const) {
      for (const type of service[list]) {
        if (type === ALL_TYPES || definitions.has(type)) continue;
        yield `iam.services.${name}.${list}: the model has no type ${type}`;
      }
    }
  }
}
