import { accessGatewayMethodsValid } from "../../src/rules/access-gateway-methods-valid.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc } from "./sources.ts";

const GET = http('get: "/v1/x"');
/** buf has one place for a list, that of its field. */
const methods = (content: string) => policy(`exposure: PUBLIC gateway: {${content}}`);

testRule(accessGatewayMethodsValid, {
  shows: "the methods are those that are bound [ANNO-10]",
  valid: [
    rpc("Get", GET, methods('methods: ["GET"]')),
    rpc("Get", GET, methods("publish: true")),
    rpc("Get", GET, methods("methods: []")),
    rpc("Get", GET, policy("exposure: PUBLIC")),
    rpc("Get", GET),
    {
      name: "all methods of all bindings, in any order",
      rpcs: rpc(
        "Do",
        http(
          'put: "/v1/x" additional_bindings {patch: "/v1/x"} additional_bindings {put: "/v1/y"}',
        ),
        methods('methods: ["PATCH", "PUT"]'),
      ),
    },
    {
      name: "an entry a line",
      rpcs: rpc(
        "Do",
        http('put: "/v1/x" additional_bindings {patch: "/v1/x"}'),
        methods('methods: "PATCH" methods: "PUT"'),
      ),
    },
    {
      name: "POST of an RPC without google.api.http",
      rpcs: rpc("Do", methods('methods: ["POST"]')),
    },
    rpc("Head", http('custom: {kind: "HEAD", path: "/v1/x"}'), methods('methods: ["HEAD"]')),
    rpc("Any", http('custom: {kind: "*", path: "/v1/x"}'), methods('methods: ["*"]')),
    {
      name: "anything beside a rule that does not parse, which another rule reports",
      rpcs: rpc("Get", http('get: "v1"'), methods('methods: ["POST"]')),
    },
  ],
  invalid: [
    {
      rpcs: rpc("Get", GET, methods('⟦methods: ["GET", "POST"]')),
      messages: ['gateway.methods has "POST", but google.api.http binds GET'],
    },
    {
      rpcs: rpc("Get", GET, methods('⟦methods: ["GET", "GET"]')),
      messages: ['gateway.methods has "GET" twice'],
    },
    {
      name: "lower case, which most likely stands for the method that is missing",
      rpcs: rpc("Get", GET, methods('⟦methods: ["get"]')),
      messages: ["gateway.methods: HTTP methods are case-sensitive; write GET"],
    },
    {
      name: "a method too few",
      rpcs: rpc(
        "Do",
        http(
          'put: "/v1/x" additional_bindings {patch: "/v1/x"} additional_bindings {delete: "/v1/x"}',
        ),
        methods('⟦methods: ["PUT"]'),
      ),
      messages: ["gateway.methods lacks PATCH, DELETE, which google.api.http binds"],
    },
    {
      name: "each method that is too many",
      rpcs: rpc("Get", GET, methods('⟦⟦methods: ["", "GET", "HEAD"]')),
      messages: ['gateway.methods has "", but', 'gateway.methods has "HEAD", but'],
    },
    {
      name: "a method twice, in place of one that is missing",
      rpcs: rpc(
        "Do",
        http('put: "/v1/x" additional_bindings {patch: "/v1/x"}'),
        methods('⟦methods: ["PUT", "PUT"]'),
      ),
      messages: ['gateway.methods has "PUT" twice'],
    },
    {
      name: "GET of an RPC without google.api.http",
      rpcs: rpc("Do", methods('⟦methods: ["GET"]')),
      messages: ['gateway.methods has "GET", but google.api.http binds POST'],
    },
    {
      name: "* does not stand for the methods that are bound",
      rpcs: rpc("Get", GET, methods('⟦methods: ["*"]')),
      messages: ['gateway.methods has "*", but google.api.http binds GET'],
    },
    {
      name: "an entry a line",
      rpcs: rpc("Get", GET, methods('methods: "GET"\n ⟦methods: "PUT"')),
      messages: ['gateway.methods has "PUT"'],
    },
    {
      name: "the first hundred of very many",
      rpcs: rpc(
        "Get",
        GET,
        methods(`${"⟦".repeat(101)}methods: [${Array(300).fill('"PUT"').join(", ")}]`),
      ),
      messages: [
        ...Array<string>(99).fill('gateway.methods has "PUT" twice'),
        'gateway.methods has "PUT", but',
        "gateway.methods has further methods that are wrong",
      ],
    },
    {
      name: "pieces",
      rpcs: rpc(
        "Get",
        GET,
        'option (svc.access.v1.policy).gateway.methods = "GET";',
        '⟦option (svc.access.v1.policy).gateway.methods = "PUT";',
      ),
      messages: ['gateway.methods has "PUT"'],
    },
  ],
});
