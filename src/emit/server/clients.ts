import type { ProtobufService, Rpc } from "../../api/api.ts";
import type { HttpRouteDeclaration } from "../../api/format.ts";
import { bindingsOf } from "../../api/resolved-policy.ts";
import type { OutputFile } from "../output-file.ts";
import { servicesByFile } from "../policies.ts";
import { COLUMNS, withinColumns } from "../source-layout.ts";
import { clientTemplate, commentText, literal, uniqueName } from "../source-text.ts";

/**
 * Generates the routes that a typed HTTP client needs in addition to the descriptor of protoc-gen-es.
 * A gRPC client needs only the descriptor.
 */
export function clientFiles(services: readonly ProtobufService[]): OutputFile[] {
  return servicesByFile(services).map(([file, declared]) => {
    // The names that the file imports.
    const taken = new Set(["HttpRoute", "httpRoutes"]);
    const content = clientTemplate({
      file: commentText(file),
      services: declared.map((service) => {
        const routesName = uniqueName(`${service.name}Routes`, taken);
        const exported = `export const ${routesName}`;
        const names = { exported, routesName, httpRoute: "HttpRoute", httpRoutes: "httpRoutes" };
        return { fullName: service.fullName, routes: routesSource(service, names) };
      }),
    });
    return { name: `${file.replace(/\.proto$/, "")}_client.ts`, content: withinColumns(content) };
  });
}

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
