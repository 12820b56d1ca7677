import {
  IDENTITY_HEADER_PREFIXES,
  IDENTITY_HEADER_VARIANTS,
  IDENTITY_HEADERS,
} from "../../api/identity-headers.ts";
import type { OutputFile } from "../output-file.ts";
import type { GatewayPlan, ListenerPlan } from "./plan.ts";
import { type CommentedResource, GATEWAY_API, printFile, resource } from "./resource.ts";

/** `gateway/edge.yaml`: the Gateway, its policy for all requests, and the backstop for uncovered routes. */
export function printEdge(plan: GatewayPlan): OutputFile {
  const { name, namespace } = plan.gateway;
  // No sectionName: a policy on a listener would replace this one entirely.
  const targetRefs = [{ group: GATEWAY_API, kind: "Gateway", name }];
  const documents: CommentedResource[] = [
    {
      comment:
        "First, identity headers are removed from every request, on every listener: only the gateway may\nset them. Ambiguous spellings of paths and headers are rejected.",
      resource: resource("ClientTrafficPolicy", name, namespace, {
        targetRefs,
        headers: {
          withUnderscoresAction: "RejectRequest",
          earlyRequestHeaders: {
            remove: IDENTITY_HEADERS,
            removeOnMatch: [
              ...IDENTITY_HEADER_PREFIXES.map((value) => ({ type: "Prefix", value })),
              ...IDENTITY_HEADER_VARIANTS.map((value) => ({ type: "Exact", value })),
            ],
          },
        },
        path: { escapedSlashesAction: "RejectRequest", disableMergeSlashes: false },
      }),
    },
  ];
  if (plan.backstop !== undefined) {
    documents.push({
      comment:
        "The backstop: requests to a route without its own policy are denied. The most specific policy\nreplaces all others, so PUBLIC routes have a policy that allows them.",
      resource: resource("SecurityPolicy", plan.backstop, namespace, {
        targetRefs,
        authorization: { defaultAction: "Deny" },
      }),
    });
  }
  documents.push({
    comment: "The Gateway comes after its policies, so that it never runs without them.",
    resource: resource("Gateway", name, namespace, {
      gatewayClassName: plan.gateway.class,
      listeners: plan.listeners.map((listener) => listenerOf(listener, plan)),
    }),
  });
  return { name: "gateway/edge.yaml", content: printFile(documents) };
}

function listenerOf(listener: ListenerPlan, plan: GatewayPlan): Record<string, unknown> {
  const { name, port, protocol, hostname, certificate } = listener;
  return {
    name,
    ...(hostname === undefined ? {} : { hostname }),
    port,
    protocol,
    ...(certificate === undefined
      ? {}
      : {
          tls: {
            mode: "Terminate",
            certificateRefs: [
              {
                group: "",
                kind: "Secret",
                name: certificate.name,
                ...(certificate.namespace === undefined
                  ? {}
                  : { namespace: certificate.namespace }),
              },
            ],
          },
        }),
    allowedRoutes: {
      namespaces: { from: plan.routesFrom },
      // With a GRPCRoute and an HTTPRoute on a host, Envoy Gateway would reject one of them.
      kinds: [{ group: GATEWAY_API, kind: "HTTPRoute" }],
    },
  };
}
