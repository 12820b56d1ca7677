import type { ProtobufService } from "../../api/api.ts";
import type { OutputFile } from "../output-file.ts";
import { servicesByFile } from "../policies.ts";
import { commentText, literal, uniqueName } from "../source-text.ts";
import { clientTemplate } from "../templates.ts";
import { httpRoutes } from "./http-routes.ts";

/**
 * Makes what a typed client over HTTP needs beside the descriptor that protoc-gen-es generates: the
 * routes. One over gRPC needs nothing more.
 */
export function clientFiles(services: readonly ProtobufService[]): OutputFile[] {
  return servicesByFile(services).map(([file, declared]) => {
    const taken = new Set<string>();
    const content = clientTemplate({
      file: commentText(file),
      services: declared.map(({ name, fullName, rpcs }) => ({
        fullName,
        routesName: uniqueName(`${name}Routes`, taken),
        routes: literal(rpcs.flatMap(httpRoutes), 0),
      })),
    });
    return { name: `${file.replace(/\.proto$/, "")}_client.ts`, content };
  });
}
