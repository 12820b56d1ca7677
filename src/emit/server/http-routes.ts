import type { ProtobufService, Rpc } from "../../api/api.ts";
import type { HttpRouteDeclaration } from "../../api/format/generated-code.ts";
import { bindingsOf } from "../../api/resolved-policy.ts";
import { COLUMNS } from "../source-layout.ts";
import { literal } from "../source-text.ts";

/** The names in the declaration of a route table, as its file imports them. */
export interface RoutesNames {
  /** `export const …Routes` */
  readonly exported: string;
  readonly routesName: string;
  /** The type `HttpRoute` of the runtime. */
  readonly httpRoute: string;
  /** The function `httpRoutes` of the runtime. */
  readonly httpRoutes: string;
}

/** The declaration of the HTTP routes of a service. */
export function routesSource(service: ProtobufService, names: RoutesNames): string {
  const { exported, routesName, httpRoute, httpRoutes } = names;
  const head = `${exported}: readonly ${httpRoute}[] = ${httpRoutes}(`;
  const name = `"${service.fullName}"`;
  const routes = service.rpcs.flatMap(declarations);
  // Tokens for symbols differ in length from the final names.
  const columns = `export const ${routesName}: readonly HttpRoute[] = httpRoutes(${name}, [`.length;
  if (columns <= COLUMNS) {
    return `${head}${name}, ${literal(routes, { depth: 0, isOpen: true })});`;
  }
  const table = literal(routes, { depth: 1, isOpen: routes.length > 1 });
  return `${head}\n  ${name},\n  ${table},\n);`;
}

/** The routes of an RPC, as arguments for the runtime's `httpRoutes`. */
function declarations(rpc: Rpc): HttpRouteDeclaration[] {
  return bindingsOf(rpc).map(({ method, path, body, responseBody }) => {
    return {
      rpc: rpc.name,
      method,
      path,
      ...(body === undefined ? {} : { body }),
      ...(responseBody === undefined ? {} : { responseBody }),
    };
  });
}
