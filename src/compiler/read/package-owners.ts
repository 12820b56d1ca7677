import { DescriptorError } from "../../api/descriptors/file-outline.ts";
import type { PlatformConfig } from "../../config/config.ts";
import { SHIPPED_PACKAGES } from "./shipped-services.ts";

/** What becomes of a protobuf package. */
export type PackageRole =
  /** A deployed service serves it. */
  | { readonly kind: "served"; readonly service: string }
  /** Others serve it, and it is only called from here. */
  | { readonly kind: "client" }
  /** No configuration lists it, and this package ships its protos: it is only called, as they are shipped. */
  | { readonly kind: "shipped" }
  /** The configuration does not say. */
  | { readonly kind: "unassigned" };

/** Says of each protobuf package which deployed service serves it, if any does. */
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
   * The role of a package. Without `services` in the configuration, each that is not called only is a
   * deployed service of its own.
   *
   * @throws DescriptorError where a configured service has the name of a package that it does not serve.
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
