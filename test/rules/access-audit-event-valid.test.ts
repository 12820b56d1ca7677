import { accessAuditEventValid } from "../../src/rules/access-audit-event-valid.ts";
import { testRule } from "./rule-tester.ts";
import { policy, rpc } from "./sources.ts";

const audited = (audit: string) => rpc("Get", policy(`exposure: PUBLIC audit: {${audit}}`));

testRule(accessAuditEventValid, {
  shows: "the names of events and risk levels [ANNO-8]",
  valid: [
    ...["skill.publish", "a.b", "a1.b_2.c_", "iam.user.password.reset"].map((event) =>
      audited(`event: "${event}"`),
    ),
    ...["LOW", "MEDIUM", "HIGH", "CRITICAL"].map((level) =>
      audited(`event: "a.b", risk_level: ${level}`),
    ),
    audited('event: "a.b", risk: LOW'),
    rpc("Get", policy("exposure: PUBLIC")),
    rpc("Get"),
  ],
  invalid: [
    {
      rpcs: `⟦${audited("")}`,
      messages: ['audit of Get names no event; add one, such as event: "skill.publish"'],
    },
    { rpcs: `⟦${audited("risk_level: HIGH")}`, messages: ["audit of Get names no event"] },
    ...[
      "",
      "publish",
      "Skill.publish",
      "skill.Publish",
      "skill..publish",
      ".publish",
      "skill.",
      "1a.b",
    ].map((event) => {
      return {
        rpcs: audited(`⟦event: "${event}"`),
        messages: [`audit.event "${event}" must be lower-case words joined by dots`],
      };
    }),
    ...["skill.pub-lish", "skill publish.x", "a._b", "ä.b", "a.b\\n"].map((event) => {
      return {
        rpcs: audited(`⟦event: "${event}"`),
        messages: ["must be lower-case words joined by dots"],
      };
    }),
    {
      name: "an event that is written by the piece",
      rpcs: rpc(
        "Get",
        "option (svc.access.v1.policy).audit.risk_level = LOW;",
        '⟦option (svc.access.v1.policy).audit.event = "Bad";',
      ),
      messages: ['audit.event "Bad" must be'],
    },
  ],
});
