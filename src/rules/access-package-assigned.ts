import type { Api } from "../api/api.ts";
import { didYouMean } from "../diagnostics/nearest.ts";
import { atRpc, type Rule } from "./rule.ts";

export const accessPackageAssigned: Rule = {
  id: "ACCESS_PACKAGE_ASSIGNED",
  category: "ACCESS",
  purpose:
    "Checks that the package of every RPC is served by a service of svc-access.yaml or listed there under clients.",
  *check({ api }) {
    const empty = packagesWithoutRpc(api);
    for (const { package: name, rpcs } of api.unassigned) {
      const message =
        name === ""
          ? "a file without a package cannot be assigned to a service of svc-access.yaml; give it a package"
          : `no service of svc-access.yaml has the package ${name}; add it to services.<name>.packages, or to clients if it is only called${didYouMean(name, empty)}`;
      for (const rpc of rpcs) yield atRpc(rpc, message);
    }
  },
};

/** The configured packages without an RPC in the input: one of them may be misspelt. */
function packagesWithoutRpc({ services }: Api): string[] {
  return services.flatMap(({ packages, services }) => {
    const found = new Set(services.map((service) => service.package));
    return packages.filter((name) => !found.has(name));
  });
}
