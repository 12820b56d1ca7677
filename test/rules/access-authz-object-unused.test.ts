import { accessAuthzObjectUnused } from "../../src/rules/access-authz-object-unused.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc } from "./sources.ts";

const authz = (resource: string, mark = "") =>
  policy(`exposure: AUTHORIZED authz: {action: "view" ${mark}resource: "${resource}"}`);
const checked = (rule: string, resource: string, mark = "") =>
  rpc("Do", http(rule), authz(resource, mark));
/** An RPC without HTTP whose request has a field. */
const named = (name: string, field: string, resource: string, mark = "") => ({
  rpcs: `rpc ${name}(Own) returns (Response) {${authz(resource, mark)}}`,
  declarations: `message Own { ${field} = 1; string other = 2; }`,
});

testRule(accessAuthzObjectUnused, {
  valid: [
    checked('delete: "/v1/items/{id}"', "item:{id}"),
    checked('delete: "/v1/items/{id}"', "shop:*"),
    checked('get: "/v1/items"', "item:*"),
    checked('get: "/v1/items/{id=**}"', "item:*"),
    checked('get: "/v1/folders/{parent}/folders/{id}"', "folder:{parent}"),
    checked('get: "/v1/{id=shops/*/items/*}"', "item:{id.items}"),
    checked('get: "/v1/{id=shops/*/items/*}"', "item:{id}"),
    checked('get: "/v1/{id=shops/*/items/*}"', "item:{id.2}"),
    checked('get: "/v1/{id=folders/*/folders/*}"', "folder:{id.2}"),
    {
      name: "a placeholder that a binding lacks, which is an error of its own",
      rpcs: checked(
        'get: "/v1/{id=shops/*/items/*}" additional_bindings {get: "/v1/{id=items/*}"}',
        "shop:{id.shops}",
      ),
    },
    {
      name: "a placeholder that is misspelt, which is an error of its own",
      rpcs: checked('get: "/v1/{id=shops/*/items/*}"', "shop:{id.shop}"),
    },
    {
      name: "an object that no placeholder can name, as a binding lacks it",
      rpcs: checked(
        'get: "/v1/{id=shops/*/items/*}" additional_bindings {get: "/v1/{id=items/*}"}',
        "shop:*",
      ),
    },
    named("Get", "string item_id", "item:{item_id}"),
    named("Get", "string item_id", "item:{other}"),
    named("Get", "string items", "item:*"),
    named("List", "repeated string item_id", "item:*"),
    named("CreateItem", "string item_id", "item:*"),
    rpc("CreateItem", http('put: "/v1/items/{id}"'), authz("item:*")),
    rpc("CreateItem", http('put: "/v1/{id=shops/*/items/*}"'), authz("item:*")),
    {
      name: "an RPC that says so",
      rpcs: `// buf:lint:ignore ACCESS_AUTHZ_OBJECT_UNUSED\n  ${checked('get: "/v1/items/{id}"', "item:*")}`,
    },
  ],
  invalid: [
    {
      rpcs: checked('delete: "/v1/items/{id}"', "item:*", "⟦"),
      messages: [
        "authz.resource: the request of Do names the item {id}, but any object of the type is checked; write item:{id}",
      ],
    },
    {
      rpcs: checked('post: "/v1/skill-spaces/{parent}:archive" body: "*"', "skill_space:*", "⟦"),
      messages: ["write skill_space:{parent}"],
    },
    {
      rpcs: checked('get: "/v1/{id=shops/*/items/*}"', "shop:*", "⟦"),
      messages: ["write shop:{id.shops}"],
    },
    {
      name: "the object above in place of the one that the name holds",
      rpcs: checked('get: "/v1/{id=shops/*/items/*}"', "item:{id.shops}", "⟦"),
      messages: [
        "names the item {id.items}, but another one is checked; write item:{id.shops}/{id.items}",
      ],
    },
    {
      name: "the object below in place of the one that the name holds",
      rpcs: checked('get: "/v1/{id=shops/*/items/*}"', "shop:{id.items}", "⟦"),
      messages: ["names the shop {id.shops}, but another one is checked; write shop:{id.shops}"],
    },
    {
      name: "the object above in place of the one that the path names",
      rpcs: checked('get: "/v1/shops/{parent}/items/{id}"', "item:{parent}", "⟦"),
      messages: ["another one is checked; write item:{parent}/{id}"],
    },
    {
      name: "a name without literals of its own",
      rpcs: checked('get: "/v1/shops/{id=*/items/*}"', "shop:{id.items}", "⟦"),
      messages: ["write shop:{id.1}"],
    },
    {
      name: "the caller's own in place of the one that the path names",
      rpcs: checked('get: "/v1/zones/{id}/users"', "zone:{principal.organization_id}", "⟦"),
      messages: ["but another one is checked; write zone:{id}"],
    },
    {
      name: "an additional binding",
      rpcs: checked('get: "/v1/x" additional_bindings {get: "/v1/items/{id}"}', "item:*", "⟦"),
      messages: ["write item:{id}"],
    },
    {
      name: "an RPC that makes something of what its path names",
      rpcs: rpc("ImportItem", http('post: "/v1/items/{id}:import"'), authz("item:*", "⟦")),
      messages: ["write item:{id}"],
    },
    {
      name: "an RPC that makes something below what its path names",
      rpcs: rpc("CreatePart", http('post: "/v1/items/{id}/parts"'), authz("item:*", "⟦")),
      messages: ["write item:{id}"],
    },
    { ...named("Delete", "string item_id", "item:*", "⟦"), messages: ["write item:{item_id}"] },
    { ...named("Delete", "int64 item", "shop/item:*", "⟦"), messages: ["write shop/item:{item}"] },
  ],
});
