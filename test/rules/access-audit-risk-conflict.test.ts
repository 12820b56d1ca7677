import { accessAuditRiskConflict } from "../../src/rules/access-audit-risk-conflict.ts";
import { testRule } from "./rule-tester.ts";
import { policy, rpc } from "./sources.ts";

const audited = (audit: string) =>
  rpc("Get", policy(`exposure: PUBLIC audit: {event: "a.b", ${audit}}`));

testRule(accessAuditRiskConflict, {
  shows: "the deprecated alias does not contradict [ANNO-8]",
  valid: [
    audited("risk_level: HIGH"),
    audited("risk: HIGH"),
    audited("risk: HIGH, risk_level: HIGH"),
    { name: "LOW twice, which is the zero value", rpcs: audited("risk: LOW, risk_level: LOW") },
    rpc("Get", policy("exposure: PUBLIC")),
    rpc("Get"),
  ],
  invalid: [
    {
      rpcs: audited("risk_level: LOW, ⟦risk: MEDIUM"),
      messages: [
        "audit.risk MEDIUM contradicts audit.risk_level LOW; remove audit.risk, which is deprecated",
      ],
    },
    {
      name: "LOW against HIGH: an explicit zero value is not unset",
      rpcs: audited("⟦risk: LOW, risk_level: HIGH"),
      messages: ["audit.risk LOW contradicts audit.risk_level HIGH"],
    },
    {
      name: "pieces",
      rpcs: rpc(
        "Get",
        "⟦option (svc.access.v1.policy).audit.risk = CRITICAL;",
        "option (svc.access.v1.policy).audit.risk_level = LOW;",
      ),
      messages: ["audit.risk CRITICAL contradicts audit.risk_level LOW"],
    },
  ],
});
