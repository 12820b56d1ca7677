import { isIP } from "node:net";
import type { BackendConfig } from "../../config/config.ts";
import { compareText } from "../../diagnostics/diagnostic.ts";

/** The backend that a rule forwards to. */
export interface BackendTarget {
  readonly kind: "Service" | "Backend";
  readonly name: string;
  readonly namespace: string;
  /** The port of a Service; a Backend has its own. */
  readonly port?: number;
  /** Whether it uses HTTP/2 without TLS, as gRPC does. */
  readonly h2c?: true;
}

/** A Backend resource, for a process outside Kubernetes. */
export interface BackendPlan {
  readonly name: string;
  readonly namespace: string;
  /** Whether it uses HTTP/2 without TLS, as gRPC does. */
  readonly h2c: boolean;
  readonly endpoints: readonly {
    readonly ip: boolean;
    readonly address: string;
    readonly port: number;
  }[];
}

/** A permission for references to another namespace. */
export interface GrantPlan {
  readonly namespace: string;
  readonly to: { readonly kind: ReferentKind; readonly name: string };
  readonly from: readonly Referrer[];
}

/** The kinds of resources that references across namespaces name. */
export type ReferentKind = "Service" | "Backend" | "Secret";

/** The kind and namespace of a resource with a reference. */
export interface Referrer {
  readonly kind: "HTTPRoute" | "SecurityPolicy" | "Gateway";
  readonly namespace: string;
}

/** Collects the references of routes and policies, without duplicates. */
export class References {
  readonly #backends = new Map<string, BackendPlan>();
  readonly #grants = new Map<string, { plan: GrantPlan; from: Map<string, Referrer> }>();
  readonly #problems: string[];

  /** @param problems - the list to which errors are added */
  constructor(problems: string[]) {
    this.#problems = problems;
  }

  /**
   * The backend that a rule forwards to.
   *
   * @param user - the user of the backend, for messages: `the service hub`
   * @param port - the port if the Service names none
   */
  target(
    config: BackendConfig,
    user: string,
    port: number | undefined,
    h2c: boolean,
  ): BackendTarget {
    if (config.service !== undefined) {
      const { name, namespace } = config.service;
      const servicePort = config.service.port ?? port;
      if (servicePort === undefined) {
        this.#problems.push(
          `${user} has no port: write ${h2c ? "ports.grpc" : "ports.http"}, or the port of its Service`,
        );
      }
      return { kind: "Service", name, namespace, port: servicePort ?? 0, ...(h2c ? { h2c } : {}) };
    }
    const { name, namespace, endpoints } = config.backend as NonNullable<BackendConfig["backend"]>;
    this.#addBackend({
      name,
      namespace,
      h2c,
      endpoints: endpoints.map(({ address, port }) => {
        return { ip: isIP(address) !== 0, address: address.toLowerCase(), port };
      }),
    });
    return { kind: "Backend", name, namespace, ...(h2c ? { h2c } : {}) };
  }

  /** Records a reference, which needs a grant if it crosses namespaces. */
  refer(from: Referrer, to: { kind: ReferentKind; name: string; namespace: string }): void {
    if (from.namespace === to.namespace) return;
    const key = `${to.namespace} ${to.kind} ${to.name}`;
    let grant = this.#grants.get(key);
    if (grant === undefined) {
      const { namespace, kind, name } = to;
      grant = { plan: { namespace, to: { kind, name }, from: [] }, from: new Map() };
      this.#grants.set(key, grant);
    }
    grant.from.set(`${from.kind} ${from.namespace}`, from);
  }

  /** The Backend resources, in order. */
  backends(): BackendPlan[] {
    return inOrder(this.#backends);
  }

  /** The grants, in order. */
  grants(): GrantPlan[] {
    return inOrder(this.#grants).map(({ plan, from }) => ({ ...plan, from: inOrder(from) }));
  }

  #addBackend(backend: BackendPlan): void {
    const { name, namespace, endpoints } = backend;
    const key = `${namespace} ${name}`;
    const known = this.#backends.get(key);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(backend)) {
      this.#problems.push(
        `the Backend ${name} in ${namespace} is configured in two ways (endpoints, or HTTP and gRPC); give each its own name`,
      );
    }
    if (endpoints.some(({ ip }) => ip) && !endpoints.every(({ ip }) => ip)) {
      this.#problems.push(
        `the Backend ${name} in ${namespace} mixes IP addresses and host names, which Envoy Gateway rejects; use only one kind`,
      );
    }
    this.#backends.set(key, backend);
  }
}

function inOrder<Value>(map: ReadonlyMap<string, Value>): Value[] {
  return [...map].sort(([left], [right]) => compareText(left, right)).map(([, value]) => value);
}
