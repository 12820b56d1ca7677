import type { BackendConfig, PlatformConfig } from "../../config/config.ts";
import { compareText } from "../../diagnostics/diagnostic.ts";

/**
 * Finds the deployed services that share a backend, on any port: a route to the backend reaches
 * all of them.
 */
export class SharedBackends {
  /** The process of each service that has a backend. */
  readonly #processes = new Map<string, string>();
  readonly #services = new Map<string, string[]>();
  /** The first service with each backend key. */
  readonly #byKey = new Map<string, string>();

  constructor(config: PlatformConfig | undefined) {
    const names = Object.keys(config?.services ?? {}).sort(compareText);
    const parents = new Map(names.map((name) => [name, name]));
    for (const name of names) {
      for (const key of backendKeys(config?.services?.[name]?.backend)) {
        const first = this.#byKey.get(key);
        if (first === undefined) this.#byKey.set(key, name);
        else parents.set(rootOf(name, parents), rootOf(first, parents));
      }
    }
    for (const name of names) {
      const process = rootOf(name, parents);
      this.#processes.set(name, process);
      const siblings = this.#services.get(process);
      if (siblings === undefined) this.#services.set(process, [name]);
      else siblings.push(name);
    }
  }

  /** The key of the process that a service runs in. */
  processOf(service: string): string {
    return this.#processes.get(service) ?? service;
  }

  /** Whether another service answers at the backend of this one. */
  isShared(service: string): boolean {
    return (this.#services.get(this.processOf(service))?.length ?? 0) > 1;
  }

  /** The services that answer at a backend, by name. */
  servicesAt(backend: BackendConfig | undefined): string[] {
    const found = backendKeys(backend).flatMap((key) => {
      const first = this.#byKey.get(key);
      return first === undefined ? [] : (this.#services.get(this.processOf(first)) ?? []);
    });
    return [...new Set(found)].sort(compareText);
  }
}

function rootOf(name: string, parents: Map<string, string>): string {
  let root = name;
  for (
    let next = parents.get(root);
    next !== undefined && next !== root;
    next = parents.get(root)
  ) {
    root = next;
  }
  // The next look-up takes one step, even if many services share a backend.
  parents.set(name, root);
  return root;
}

/** Two backends with a common key are the same process; the port is part of a key only if there is no name. */
function backendKeys(backend: BackendConfig | undefined): string[] {
  if (backend?.service !== undefined) {
    return [`service ${backend.service.namespace}/${backend.service.name}`];
  }
  if (backend?.backend === undefined) return [];
  const { name, namespace, endpoints } = backend.backend;
  return [
    `backend ${namespace}/${name}`,
    ...endpoints.map(({ address, port }) => `endpoint ${canonical(address)}:${port}`),
  ];
}

/** A host name or address as URLs spell it. */
function canonical(address: string): string {
  const url = `http://[${address}]`;
  return URL.canParse(url) ? new URL(url).hostname : address.toLowerCase();
}
