import { accessAuthzParentUnused } from "../../src/rules/access-authz-parent-unused.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc } from "./sources.ts";

const checked = (rule: string, resource: string, mark = "") =>
  rpc(
    "Do",
    http(rule),
    policy(`exposure: AUTHORIZED authz: {action: "view" ${mark}resource: "${resource}"}`),
  );
const NAME = 'get: "/v1/{id=merchants/*/accounts/*}"';
const NESTED = 'get: "/v1/merchants/{parent}/accounts/{id}"';

testRule(accessAuthzParentUnused, {
  valid: [
    checked(NESTED, "merchant:{parent}"),
    checked(NESTED, "account:{parent}/{id}"),
    checked(NESTED, "account:*"),
    checked('get: "/v1/accounts/{id}"', "account:{id}"),
    checked('get: "/v1/{parent}/accounts/{id}"', "account:{id}"),
    checked('get: "/api/{parent}/accounts/{id}"', "account:{id}"),
    checked(NAME, "account:{id.merchants}/{id.accounts}"),
    checked(NAME, "account:{id}"),
    checked(NAME, "merchant:{id.merchants}"),
    checked(NAME, "account:{id.account}"),
    {
      name: "the wrong object, which another rule reports with the id that binds both",
      rpcs: checked(NAME, "merchant:{id.accounts}"),
    },
    {
      name: "an object above that another binding of the field lacks",
      rpcs: checked(
        `${NAME} additional_bindings {get: "/v1/{id=accounts/*}"}`,
        "account:{id.accounts}",
      ),
    },
    rpc("Do", http(NESTED), policy("exposure: INTERNAL")),
    {
      name: "an RPC that says so",
      rpcs: `// buf:lint:ignore ACCESS_AUTHZ_PARENT_UNUSED\n  ${checked(NESTED, "account:{id}")}`,
    },
  ],
  invalid: [
    {
      rpcs: checked(NESTED, "account:{id}", "⟦"),
      messages: [
        "authz.resource: the path of Do names {parent} above {id}, but only account:{id} is checked",
      ],
    },
    {
      name: "a segment of the same name",
      rpcs: checked(NAME, "account:{id.accounts}", "⟦"),
      messages: [
        "names {id.merchants} above {id.accounts}, but only account:{id.accounts} is checked, so a caller can request an object below a parent of another caller; write account:{id.merchants}/{id.accounts} if",
      ],
    },
    {
      name: "the first of three segments",
      rpcs: checked('get: "/v1/{id=a/*/b/*/accounts/*}"', "account:{id.b}/{id.accounts}", "⟦"),
      messages: ["names {id.a} above {id.accounts}"],
    },
    {
      name: "an additional binding, once",
      rpcs: checked(
        `get: "/v1/accounts/{id}" additional_bindings {${NESTED}} additional_bindings {get: "/v2/merchants/{parent}/accounts/{id}"}`,
        "account:{id}",
        "⟦",
      ),
      messages: ["write account:{parent}/{id} if ids have that form"],
    },
  ],
});
