import type { OutputFile } from "../output-file.ts";
import type { FrontendPlan, GatewayPlan } from "./plan.ts";
import { printRoute } from "./print-route.ts";
import { loginSpec, openSpec } from "./print-security-policy.ts";
import { printErrors, printLimit } from "./print-traffic-policy.ts";
import { type CommentedResource, printFile, resource, routeRef } from "./resource.ts";

/**
 * The file of a frontend: its policies, and behind them the routes that they
 * cover. A route that is applied before its policy is open.
 */
export function printFrontend(frontend: FrontendPlan, plan: GatewayPlan): OutputFile {
  const { name, host, namespace, routes } = frontend;
  const covered = (policy: string) => routes.filter((route) => route.policy === policy);
  const documents: CommentedResource[] = [];
  if (covered(frontend.login.name).length > 0) {
    documents.push({
      comment: `The one policy of all that ${name} has behind the login, pages and API: two would be two sessions.`,
      resource: resource("SecurityPolicy", frontend.login.name, namespace, {
        targetRefs: covered(frontend.login.name).map(routeRef),
        ...loginSpec(frontend),
      }),
    });
  }
  if (frontend.open !== undefined) {
    documents.push({
      comment: `The PUBLIC routes of ${name}: no login.`,
      resource: resource("SecurityPolicy", frontend.open.name, namespace, {
        targetRefs: covered(frontend.open.name).map(routeRef),
        ...openSpec(frontend.open, frontend.cors),
      }),
    });
  }
  if (frontend.errors !== undefined) documents.push(printErrors(frontend.errors, frontend));
  for (const limit of frontend.limits) documents.push(printLimit(limit, frontend, plan));
  for (const route of routes) documents.push(printRoute(route, frontend, plan));
  return { name: `gateway/hosts/${host}/${name}.yaml`, content: printFile(documents) };
}
