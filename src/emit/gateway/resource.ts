import { Scalar, stringify } from "yaml";
import { GENERATED_YAML } from "../output-file.ts";

/** The label of all resources of this target. */
const MANAGED_BY = { "app.kubernetes.io/managed-by": "svc-access" } as const;

/** A Kubernetes resource. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

export const GATEWAY_API = "gateway.networking.k8s.io";
export const ENVOY_GATEWAY = "gateway.envoyproxy.io";

const API_VERSIONS: Readonly<Record<string, string>> = {
  Gateway: `${GATEWAY_API}/v1`,
  HTTPRoute: `${GATEWAY_API}/v1`,
  // Only the newest bundles also serve v1.
  ReferenceGrant: `${GATEWAY_API}/v1beta1`,
};

/** A resource of the Gateway API or of Envoy Gateway. */
export function resource(
  kind: string,
  name: string,
  namespace: string,
  spec: Resource["spec"],
): Resource {
  return {
    apiVersion: API_VERSIONS[kind] ?? `${ENVOY_GATEWAY}/v1alpha1`,
    kind,
    metadata: { name, namespace, labels: MANAGED_BY },
    spec,
  };
}

/** A reference of a policy to a route. */
export function routeRef({ name }: { readonly name: string }): Record<string, string> {
  return { group: GATEWAY_API, kind: "HTTPRoute", name };
}

/** A YAML document with the comment above it. */
export interface CommentedResource {
  readonly comment: string;
  readonly resource: Resource;
}

const HEADER = `${GENERATED_YAML}the protobuf annotations and svc-access.yaml. Do not edit.\n`;

/**
 * The documents of a file, in the order in which they must be applied. The header is inside the
 * first document: standalone Envoy Gateway rejects a file with a document of comments only.
 */
export function printFile(documents: readonly CommentedResource[]): string {
  return HEADER + documents.map(printDocument).join("---\n");
}

function printDocument({ comment, resource: value }: CommentedResource): string {
  const lines = comment.split("\n").map((line) => `# ${line}\n`);
  // YAML 1.1, as in Kubernetes, so `no` and `on` are quoted. Long lines are not folded, for readable diffs.
  const text = stringify(value, quoteNumbers, {
    version: "1.1",
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
  return `${lines.join("")}${text}`;
}

/** Text that some YAML version parses as a number: `1e3`, `0o17`, `12:30`. */
const LIKE_A_NUMBER = /^[-+.]?[0-9]/;

function quoteNumbers(_key: unknown, value: unknown): unknown {
  if (typeof value !== "string" || !LIKE_A_NUMBER.test(value)) return value;
  const scalar = new Scalar(value);
  scalar.type = Scalar.QUOTE_DOUBLE;
  return scalar;
}
