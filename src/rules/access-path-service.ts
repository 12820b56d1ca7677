import type { DeployedService, ProtobufService } from "../api/api.ts";
import { VERSION } from "./access-path-versioned.ts";
import { rpcRule } from "./rule.ts";

export const accessPathService = rpcRule({
  id: "ACCESS_PATH_SERVICE",
  category: "ACCESS_RECOMMENDED",
  purpose: "Checks that every HTTP path is below /v1/<service-name>/.",
  checkRpc(rpc, report, { deployed, service }) {
    if (rpc.http.length === 0) return;
    const names = namesOf(service, deployed);
    if (names.length === 0) return;
    for (const { path, binding } of rpc.http) {
      // ACCESS_PATH_VERSIONED reports a path without a version.
      const [version, name] = binding?.template.segments ?? [];
      if (binding === undefined || version?.kind !== "literal" || !VERSION.test(version.text))
        continue;
      if (name?.kind === "literal" && names.includes(name.text)) continue;
      const prefixes = names.map((known) => `/${version.text}/${known}/`).join(" or ");
      report.atHttp(`the path ${binding.path} is not below ${prefixes}`, ...path);
    }
  },
});

/** The cached names of each service, which all its RPCs share. */
const NAMES = new WeakMap<ProtobufService, readonly string[]>();

/** The names that the paths of a service may have after the version. */
function namesOf(service: ProtobufService, deployed: DeployedService): readonly string[] {
  const known = NAMES.get(service);
  if (known !== undefined) return known;
  const names = new Set(deployed.configured ? [deployed.name] : []);
  const family = familyOf(service.package);
  if (family !== undefined) names.add(family);
  const made = [...names];
  NAMES.set(service, made);
  return made;
}

/** The path family of a package: `skills` of `hub.skills.v1`. */
function familyOf(packageName: string): string | undefined {
  return packageName
    .split(".")
    .filter((segment) => !VERSION.test(segment))
    .at(-1)
    ?.replaceAll("_", "-");
}
