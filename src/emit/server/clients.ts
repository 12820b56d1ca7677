import type { ProtobufService } from "../../api/api.ts";
import type { OutputFile } from "../output-file.ts";
import { servicesByFile } from "../policies.ts";
import { withinColumns } from "../source-layout.ts";
import { clientTemplate, commentText, uniqueName } from "../source-text.ts";
import { routesSource } from "./http-routes.ts";

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
