import { accessAuthzPrincipalClaim } from "../../src/rules/access-authz-principal-claim.ts";
import { frontend, ONE_AND_TWO, platform } from "./platforms.ts";
import { testRule } from "./rule-tester.ts";
import { policy, rpc } from "./sources.ts";

const published = (resource: string, mark = "") =>
  rpc(
    "Get",
    policy(
      `exposure: AUTHORIZED authz: {action: "view", ${mark}resource: "${resource}"} gateway: {publish: true}`,
    ),
  );
const ORGANIZATION = "organization:{principal.organization_id}";

const behind = (...frontends: string[]) => platform(ONE_AND_TWO, frontends);
const withMode = (mode: string) =>
  platform(`services: { one: { packages: [CASE.v1], authn_mode: ${mode} } }`, [
    frontend("web", { services: "one" }),
  ]);

testRule(accessAuthzPrincipalClaim, {
  valid: [
    { name: "any field without a configuration", rpcs: published(ORGANIZATION) },
    { name: "any field without a frontend", rpcs: published(ORGANIZATION), config: ONE_AND_TWO },
    {
      name: "a claim of the console",
      rpcs: published(ORGANIZATION),
      config: behind(frontend("web", { services: "one", claims: "console" })),
    },
    ...["subject_id", "email", "name", "username", "source"].map((field) => {
      return {
        name: `${field}, which every frontend maps`,
        rpcs: published(`user:{principal.${field}}`),
        config: behind(frontend("web", { services: "one" })),
      };
    }),
    {
      name: "a frontend of another service",
      rpcs: published(ORGANIZATION),
      config: behind(frontend("web", { services: "two" })),
    },
    {
      name: "a service that reads the token itself",
      rpcs: published(ORGANIZATION),
      config: withMode("idp_jwt"),
    },
    {
      name: "no field of the caller",
      rpcs: published("skill:{id}") + published("skill:*").replace("Get", "List"),
      config: behind(frontend("web", { services: "one" })),
    },
    ...["{principal}", "{principal.organisation}", "{principal.roles}"].map((placeholder) => {
      return {
        name: `${placeholder}, which another rule reports`,
        rpcs: published(`organization:${placeholder}`),
        config: behind(frontend("web", { services: "one" })),
      };
    }),
  ],
  invalid: [
    {
      name: "a claim that the default mapping lacks",
      rpcs: published(ORGANIZATION, "⟦"),
      config: behind(frontend("web", { services: "one" })),
      messages: [
        "authz.resource: {principal.organization_id} is always absent behind the frontend web, which does not map its claim; write claims: console there",
      ],
    },
    {
      // The rule speaks of the frontends of the service; publishing the RPC later must not break it.
      name: "a claim that the default mapping lacks, of an RPC that is not published",
      rpcs: rpc(
        "Get",
        policy(`exposure: AUTHORIZED authz: {action: "view", ⟦resource: "${ORGANIZATION}"}`),
      ),
      config: behind(frontend("web", { services: "one" })),
      messages: ["behind the frontend web, which"],
    },
    ...["gateway_trusted", "hybrid"].map((mode) => {
      return {
        name: `a claim that the default mapping lacks, of a service of mode ${mode}`,
        rpcs: published(ORGANIZATION, "⟦"),
        config: withMode(mode),
        messages: ["behind the frontend web, which"],
      };
    }),
    {
      name: "each frontend that lacks it, and no other",
      rpcs: published(ORGANIZATION, "⟦"),
      config: behind(
        frontend("web", { services: "one" }),
        frontend("console", { services: "one", claims: "console" }),
        frontend("admin", { services: "two, one" }),
      ),
      messages: ["behind the frontend admin, web, which"],
    },
    {
      name: "once a field that is named twice",
      rpcs: published(`${ORGANIZATION}-{principal.email}-{principal.organization_id}`, "⟦"),
      config: behind(frontend("web", { services: "one" })),
      messages: ["{principal.organization_id} is always absent"],
    },
  ],
});
