import { accessGatewayExposure } from "../../src/rules/access-gateway-exposure.ts";
import { testRule } from "./rule-tester.ts";
import { policy, rpc } from "./sources.ts";

testRule(accessGatewayExposure, {
  shows: "INTERNAL and SYSTEM RPCs are not published [ANNO-11]",
  valid: [
    ...["PUBLIC", "AUTHENTICATED", "AUTHORIZED"].map((exposure) =>
      rpc("Get", policy(`exposure: ${exposure} gateway: {publish: true}`)),
    ),
    rpc("Get", policy("exposure: INTERNAL")),
    rpc("Get", policy("exposure: SYSTEM gateway: {publish: false}")),
    rpc("Get", policy('exposure: SYSTEM gateway: {methods: ["POST"]}')),
    {
      name: "no exposure, which another rule reports",
      rpcs: rpc("Get", policy("gateway: {publish: true}")),
    },
    rpc("Get"),
  ],
  invalid: [
    ...["INTERNAL", "SYSTEM"].map((exposure) => {
      return {
        rpcs: rpc("Get", policy(`exposure: ${exposure} gateway {⟦publish: true}`)),
        messages: [`Get is ${exposure} and must not be published; remove gateway.publish`],
      };
    }),
    {
      name: "pieces",
      rpcs: rpc(
        "Get",
        "⟦option (svc.access.v1.policy).gateway.publish = true;",
        "option (svc.access.v1.policy).exposure = INTERNAL;",
      ),
      messages: ["Get is INTERNAL"],
    },
  ],
});
