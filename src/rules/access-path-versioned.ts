import { rpcRule } from "./rule.ts";

/** `v1`, and also `v2beta1`. */
export const VERSION = /^v[1-9][0-9]*(?:(?:alpha|beta)[0-9]*|p[1-9][0-9]*(?:alpha|beta)[0-9]*)?$/;

export const accessPathVersioned = rpcRule({
  id: "ACCESS_PATH_VERSIONED",
  category: "ACCESS_RECOMMENDED",
  purpose: "Checks that every HTTP path starts with a version, such as /v1/.",
  checkRpc(rpc, report) {
    for (const { path, binding } of rpc.http) {
      if (binding === undefined) continue;
      const [first] = binding.template.segments;
      if (first?.kind === "literal" && VERSION.test(first.text)) continue;
      report.atHttp(`the path ${binding.path} has no version; start it with /v1/`, ...path);
    }
  },
});
