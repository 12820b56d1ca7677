import { accessAuthzWholeName } from "../../src/rules/access-authz-whole-name.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc } from "./sources.ts";

const checked = (path: string, resource: string, mark = "") =>
  rpc(
    "Get",
    http(`get: "${path}"`),
    policy(`exposure: AUTHORIZED authz: {action: "view" ${mark}resource: "${resource}"}`),
  );
const NESTED = "/v1/{id=merchants/*/ledgers/*}";

testRule(accessAuthzWholeName, {
  valid: [
    checked(NESTED, "ledger:{id.ledgers}"),
    checked("/v1/ledgers/{id}", "ledger:{id}"),
    checked("/v1/{id=*}", "ledger:{id}"),
    checked(NESTED, "ledger:{parent}"),
    checked(NESTED, "ledger:*"),
    {
      name: "what can never match, which another rule reports",
      rpcs: checked(NESTED, "merchant:{id}"),
    },
    {
      name: "an RPC that says that its ids are whole names",
      rpcs: `// buf:lint:ignore ACCESS_AUTHZ_WHOLE_NAME\n  ${checked(NESTED, "ledger:{id}")}`,
    },
  ],
  invalid: [
    {
      rpcs: checked(NESTED, "ledger:{id}", "⟦"),
      messages: [
        "{id} is the whole name merchants/*/ledgers/*; write {id.merchants}/{id.ledgers} if ids consist of its segments",
      ],
    },
    { rpcs: checked("/v1/{id=ledgers/*}", "ledger:{id}", "⟦"), messages: ["write {id.ledgers}"] },
    { rpcs: checked("/v1/{id=*/*}", "ledger:{id}", "⟦"), messages: ["write {id.1}/{id.2} if"] },
    { rpcs: checked("/v1/{id=files/**}", "file:{id}", "⟦"), messages: ["the whole name files/**"] },
  ],
});
