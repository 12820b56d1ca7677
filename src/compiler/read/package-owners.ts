import { DescriptorError } from "../../api/descriptors/file-outline.ts";
import type { PlatformConfig } from "../../config/config.ts";
import { SHIPPED_PACKAGES, SHIPPED_RPCS } from "../../gen/shipped-services.ts";

/** The role of a protobuf package. */
export type PackageRole =
  /** A deployed service serves it. */
  | { readonly kind: "served"; readonly service: string }
  /** Another repository serves it; it is only called from here. */
  | { readonly kind: "client" }
  /** The configuration does not list it, and this npm package ships its protos: it is only called. */
  | { readonly kind: "shipped" }
  /** The configuration does not list it. */
  | { readonly kind: "unassigned" };

/** Finds the deployed service, if any, that serves a protobuf package. */
export class PackageOwners {
  readonly #owners = new Map<string, string>();
  readonly #clients: ReadonlySet<string>;
  readonly #services: ReadonlySet<string> | undefined;

  constructor(config: Pick<PlatformConfig, "services" | "clients"> | undefined) {
    for (const [name, { packages }] of Object.entries(config?.services ?? {})) {
      for (const packageName of packages) this.#owners.set(packageName, name);
    }
    this.#clients = new Set(config?.clients);
    if (config?.services !== undefined) this.#services = new Set(Object.keys(config.services));
  }

  /**
   * The role of a package. Without `services` in the configuration, each package that is not a client
   * is its own deployed service.
   *
   * @throws DescriptorError if a configured service has the name of a package that it does not serve.
   */
  roleOf(packageName: string): PackageRole {
    const owner = this.#owners.get(packageName);
    if (owner !== undefined) return { kind: "served", service: owner };
    if (this.#clients.has(packageName)) return { kind: "client" };
    if (SHIPPED_PACKAGES.includes(packageName)) return { kind: "shipped" };
    if (this.#services === undefined) return { kind: "served", service: packageName };
    if (this.#services.has(packageName)) {
      throw new DescriptorError(
        `the package ${packageName} has the name of a service that does not serve it; list it in services.<name>.packages`,
      );
    }
    return { kind: "unassigned" };
  }
}

/** The protobuf services whose protos this npm package ships, and their RPCs. */
const SHIPPED: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(SHIPPED_RPCS).map(([service, rpcs]) => [service, new Set(rpcs)]),
);

/** Whether a service is a shipped one; one with additional RPCs is not. */
export function isShipped(service: {
  readonly fullName: string;
  readonly rpcs: readonly { readonly name: string }[];
}): boolean {
  const rpcs = SHIPPED.get(service.fullName);
  return rpcs !== undefined && service.rpcs.every(({ name }) => rpcs.has(name));
}
