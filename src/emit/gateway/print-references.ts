import type { OutputFile } from "../output-file.ts";
import type { GatewayPlan } from "./plan.ts";
import type { BackendPlan, GrantPlan, ReferentKind, Referrer } from "./plan-references.ts";
import {
  type CommentedResource,
  ENVOY_GATEWAY,
  GATEWAY_API,
  printFile,
  resource,
} from "./resource.ts";

/** The maximum number of `from` entries in a ReferenceGrant. */
const MAX_FROM = 16;

const GROUPS: Readonly<Record<ReferentKind | Referrer["kind"], string>> = {
  Service: "",
  Secret: "",
  Backend: ENVOY_GATEWAY,
  SecurityPolicy: ENVOY_GATEWAY,
  HTTPRoute: GATEWAY_API,
  Gateway: GATEWAY_API,
};

/** `gateway/backends.yaml` and `gateway/grants.yaml`, unless they would be empty. */
export function printReferences({ backends, grants }: GatewayPlan): OutputFile[] {
  const files: OutputFile[] = [];
  if (backends.length > 0) {
    const content = printFile(backends.map(printBackend));
    files.push({ name: "gateway/backends.yaml", content });
  }
  if (grants.length > 0) {
    const content = printFile(grants.flatMap((grant) => [...printGrant(grant)]));
    files.push({ name: "gateway/grants.yaml", content });
  }
  return files;
}

function printBackend({ name, namespace, h2c, endpoints }: BackendPlan): CommentedResource {
  return {
    comment: "Needs `extensionApis.enableBackend: true` in the configuration of Envoy Gateway.",
    resource: resource("Backend", name, namespace, {
      ...(h2c ? { appProtocols: [`${ENVOY_GATEWAY}/h2c`] } : {}),
      endpoints: endpoints.map(({ ip, address, port }) =>
        ip ? { ip: { address, port } } : { fqdn: { hostname: address, port } },
      ),
    }),
  };
}

function* printGrant({ namespace, to, from }: GrantPlan): Iterable<CommentedResource> {
  for (let start = 0; start < from.length; start += MAX_FROM) {
    const part = start === 0 ? "" : `.${start / MAX_FROM + 1}`;
    const name = `svc-access.${to.kind.toLowerCase()}.${to.name}${part}`;
    yield {
      comment: `Lets other namespaces refer to the ${to.kind} ${to.name}, and to nothing else.`,
      resource: resource("ReferenceGrant", name, namespace, {
        from: from.slice(start, start + MAX_FROM).map((referrer) => {
          return { group: GROUPS[referrer.kind], ...referrer };
        }),
        to: [{ group: GROUPS[to.kind], kind: to.kind, name: to.name }],
      }),
    };
  }
}
