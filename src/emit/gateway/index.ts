import { compareText } from "../../diagnostics/diagnostic.ts";
import type { EmitInput, EmitResult } from "../output-file.ts";
import { gatewayNotes, noEdge } from "./notes.ts";
import { planGateway } from "./plan-gateway.ts";
import { printEdge } from "./print-edge.ts";
import { printFrontend } from "./print-frontend.ts";
import { printReferences } from "./print-references.ts";

export type * from "./plan.ts";
export { planGateway } from "./plan-gateway.ts";
export { compareMatches, matchesPath } from "./precedence.ts";

/**
 * Generates the Kubernetes YAML of the edge for Envoy Gateway: first a plan with
 * all decisions, then its text.
 *
 * The names of the files sort in the order in which they must be applied:
 * backends, edge, grants, hosts.
 *
 * @throws EmitError if the configuration would leave a route without its policy
 */
export function emitGateway({ api, config, configFile }: EmitInput): EmitResult {
  if (config?.edge === undefined) return { files: [], notes: [noEdge(configFile)] };
  const plan = planGateway(api, config);
  const frontends = plan.hosts.flatMap((host) => host.frontends);
  const files = [
    ...printReferences(plan),
    printEdge(plan),
    ...frontends
      .filter(({ routes }) => routes.length > 0)
      .map((frontend) => printFrontend(frontend, plan)),
  ];
  files.sort((left, right) => compareText(left.name, right.name));
  return { files, notes: gatewayNotes(plan, api) };
}
