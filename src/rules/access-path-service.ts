import { VERSION } from "./access-path-versioned.ts";
import { rpcRule } from "./rule.ts";

export const accessPathService = rpcRule({
  id: "ACCESS_PATH_SERVICE",
  category: "ACCESS_RECOMMENDED",
  purpose: "Checks that every HTTP path is below /v1/<service-name>/.",
  checkRpc(rpc, report, { deployed, service }) {
    if (rpc.http.length === 0) return;
    const family = familyOf(service.package);
    const isName = (text: string) =>
      text === family || (deployed.configured && text === deployed.name);
    for (const { path, binding } of rpc.http) {
      // ACCESS_PATH_VERSIONED reports a path without a version.
      const [version, name] = binding?.template.segments ?? [];
      if (binding === undefined || version?.kind !== "literal" || !VERSION.test(version.text))
        continue;
      if (name?.kind === "literal" && isName(name.text)) continue;
      const names = new Set(deployed.configured ? [deployed.name] : []);
      if (family !== undefined) names.add(family);
      if (names.size === 0) return;
      const prefixes = [...names].map((known) => `/${version.text}/${known}/`).join(" or ");
      report.atHttp(`the path ${binding.path} is not below ${prefixes}`, ...path);
    }
  },
});

/** The path family of a package: `skills` of `hub.skills.v1`. */
function familyOf(packageName: string): string | undefined {
  return packageName
    .split(".")
    .filter((segment) => !VERSION.test(segment))
    .at(-1)
    ?.replaceAll("_", "-");
}
