import type { DescService } from "@bufbuild/protobuf";
import type {
  AccessPolicies,
  BINDING_FORMAT_VERSION,
  HttpRouteDeclaration,
} from "../../api/format.ts";
import { formatSegment, parsePathTemplate } from "../../api/path-template.ts";

/**
 * The result of a generated `bind…` function for the runtime: one value with everything that is
 * needed to serve a protobuf service by its policies.
 *
 * @example
 * ```ts
 * const binding: ServiceBinding<typeof NotesService, NotesServiceHandlers> = bindNotesService(handlers(engine));
 * ```
 *
 * @typeParam Service - the generated service descriptor
 * @typeParam Handlers - the generated handler interface
 */
export interface ServiceBinding<
  Service extends DescService = DescService,
  Handlers extends object = object,
> {
  /**
   * The version of the generated code; a server with another version does not start, and says to
   * generate again.
   */
  readonly formatVersion: typeof BINDING_FORMAT_VERSION;
  /** The service descriptor of protoc-gen-es. */
  readonly service: Service;
  /** The policy of each RPC of the service, by full method name. */
  readonly policies: AccessPolicies;
  /** The HTTP routes of the service, in the order of their declaration. */
  readonly routes: readonly HttpRoute[];
  /** A method for each RPC, by its name in lower camel case. */
  readonly handlers: Handlers;
}

/** An HTTP method and a path template that lead to an RPC (`google.api.http`). */
export interface HttpRoute {
  /** The full method name, such as `notes.v1.NotesService/SetItem`. */
  readonly rpc: string;
  /** The HTTP method; `*` for any. */
  readonly method: string;
  /** The path template as it is written. */
  readonly path: string;
  /** The segments: `*` is any one, `**` any number of them, all else is literal. */
  readonly segments: readonly string[];
  /** The variables of the template, in their order. */
  readonly variables: readonly HttpRouteVariable[];
  /** The suffix of the last segment after a colon, such as `publish`; absent for none. */
  readonly verb?: string;
  /** The request field that is the body; `*` for all that the path does not bind; absent for none. */
  readonly body?: string;
  /** The response field that is the body; absent for the whole response. */
  readonly responseBody?: string;
}

/** A variable of a path template and the segments that it binds. */
export interface HttpRouteVariable {
  /** The field path in protobuf names. */
  readonly field: string;
  /** The index in `segments` of its first segment. */
  readonly start: number;
  /** The index after its last segment. */
  readonly end: number;
}

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
 * @throws Error if a path is not a valid path template; generated ones are
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
