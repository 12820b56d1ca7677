import { DescriptorError } from "../../api/descriptors/file-outline.ts";
import type { PlatformConfig } from "../../config/config.ts";
import { SHIPPED_PACKAGES } from "./shipped-services.ts";

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
    if (SHIPPED_PACKAGES.has(packageName)) return { kind: "shipped" };
    if (this.#services === undefined) return { kind: "served", service: packageName };
    if (this.#services.has(packageName)) {
      throw new DescriptorError(
        `the package ${packageName} has the name of a service that does not serve it; list it in services.<name>.packages`,
      );
    }
    return { kind: "unassigned" };
  }
}
