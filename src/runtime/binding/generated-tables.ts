import type { HttpRouteDeclaration } from "../../api/format/generated-code.ts";
import { formatSegment, parsePathTemplate } from "../../api/path-template.ts";
import type { HttpRoute } from "./service-binding.ts";

/**
 * Freezes a table of generated code, at every depth: nothing that runs in the process can
 * weaken a policy.
 *
 * @returns the same value
 *
 * @example
 * ```ts
 * const policies = deepFreeze({ "notes.v1.NotesService/GetVersion": { exposure: "PUBLIC", publish: true } });
 * ```
 */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}

/**
 * The routes of a service, from those that its generated code declares.
 *
 * @param service - the full name of the protobuf service
 * @throws Error where a path is not a valid path template; generated ones are
 *
 * @example
 * ```ts
 * const routes = httpRoutes("notes.v1.NotesService", [
 *   { rpc: "SetItem", method: "PUT", path: "/v1/notes/items/{item_id}", body: "*" },
 * ]);
 * ```
 */
export function httpRoutes(
  service: string,
  declarations: readonly HttpRouteDeclaration[],
): readonly HttpRoute[] {
  const routes = declarations.map((declaration): HttpRoute => {
    const { rpc, path } = declaration;
    const { template, error } = parsePathTemplate(path);
    if (template === undefined) throw new Error(`${service}/${rpc}: the path ${path}: ${error}`);
    const { segments, variables, verb } = template;
    return {
      ...declaration,
      rpc: `${service}/${rpc}`,
      segments: segments.map(formatSegment),
      variables,
      ...(verb === undefined ? {} : { verb }),
    };
  });
  return deepFreeze(routes);
}
