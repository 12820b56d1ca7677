import { accessAuthzNameSegment } from "../../src/rules/access-authz-name-segment.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc } from "./sources.ts";

const checked = (path: string, resource: string, mark = "") =>
  rpc(
    "Get",
    http(`get: "${path}"`),
    policy(`exposure: AUTHORIZED authz: {action: "view" ${mark}resource: "${resource}"}`),
  );
const NESTED = "/v1/{id=merchants/*/ledgers/*}";

testRule(accessAuthzNameSegment, {
  valid: [
    checked(NESTED, "merchant:{id.merchants}"),
    checked(NESTED, "ledger:{id}"),
    checked(NESTED, "ledger:{id.ledgers}"),
    checked(NESTED, "account:{id}"),
    checked(NESTED, "merchant:*"),
    checked(NESTED, "merchant:{parent}"),
    checked("/v1/merchants/{id}", "merchant:{id}"),
    checked("/v1/{id=merchants/*}", "merchant:{id}"),
    checked("/v1/{id=folders/*/folders/*}", "folder:{id}"),
    checked("/v1/{id=merchants/ledgers/*}", "merchant:{id}"),
  ],
  invalid: [
    {
      rpcs: checked(NESTED, "merchant:{id}", "⟦"),
      messages: [
        "authz.resource: {id} is the whole name merchants/*/ledgers/*, which is never the id of a merchant; write {id.merchants}",
      ],
    },
    {
      name: "a plural of another form, a type of two words, and a prefix of the type",
      rpcs: checked("/v1/{id=skillCategories/*/skills/**}", "shop/skill_category:{id}", "⟦"),
      messages: ["write {id.skillCategories}"],
    },
    {
      name: "a nested field, beside a literal",
      rpcs: checked("/v1/{inner.id=merchants/*/x/*}", "merchant:m-{inner.id}", "⟦"),
      messages: ["write {inner.id.merchants}"],
    },
    {
      name: "one of several bindings",
      rpcs: rpc(
        "Get",
        http(`get: "/v1/{id=ledgers/*}" additional_bindings {get: "${NESTED}"}`),
        policy('exposure: AUTHORIZED authz: {action: "view" ⟦resource: "merchant:{id}"}'),
      ),
      messages: ["write {id.merchants}"],
    },
  ],
});
