import { accessHttpRuleValid } from "../../src/rules/access-http-rule-valid.ts";
import { testRule } from "./rule-tester.ts";
import { http, rpc } from "./sources.ts";

const accepted = (rule: string) => rpc("Get", http(rule));
const refused = (rule: string, ...messages: string[]) => {
  return { rpcs: rpc("Get", http(rule)), messages };
};

// The grammar of a path is tested in test/api/path-template.test.ts.
testRule(accessHttpRuleValid, {
  shows: "the grammar of google.api.http [ANNO-13]",
  valid: [
    rpc("Get"),
    ...["get", "put", "post", "delete", "patch"].map((method) => accepted(`${method}: "/v1/x"`)),
    ...["HEAD", "OPTIONS", "GET", "*", "QUERY"].map((kind) =>
      accepted(`custom: {kind: "${kind}", path: "/v1/x"}`),
    ),
    accepted('get: "/v1/{id}/{inner.id}/{inner.inner.number}/{color}/{flag}"'),
    accepted('get: "/v1/{id=projects/*}/{maybe=**}:run"'),
    accepted('get: "/v1/{left}/{right}/{ratio}/{data}"'),
    accepted('post: "/v1/x" body: "*"'),
    accepted('post: "/v1/x" body: "inner"'),
    accepted('post: "/v1/x" body: "names"'),
    accepted('post: "/v1/{inner.id}" body: "inner"'),
    accepted('delete: "/v1/{id}" body: "inner"'),
    accepted('custom: {kind: "*", path: "/v1/x"} body: "*"'),
    accepted('get: "/v1/x" body: ""'),
    accepted('get: "/v1/x" response_body: "inner"'),
    accepted(
      'get: "/v1/x" additional_bindings {post: "/v1/x" body: "*"} additional_bindings {get: "/v1/y"}',
    ),
    {
      name: "pieces",
      rpcs: rpc(
        "Do",
        'option (google.api.http).post = "/v1/{id}";',
        'option (google.api.http).body = "inner";',
      ),
    },
    {
      name: "pieces of a custom pattern",
      rpcs: rpc(
        "Do",
        'option (google.api.http).custom.kind = "HEAD";',
        'option (google.api.http).custom.path = "/v1/{id}";',
      ),
    },
    {
      name: "a request of an imported file",
      declarations: 'import "google/api/http.proto";',
      rpcs: `rpc Get(google.api.CustomHttpPattern) returns (google.api.HttpRule) {${http('get: "/v1/{kind}" response_body: "additional_bindings"')}}`,
    },
  ],
  invalid: [
    { rpcs: rpc("Get", http("", "⟦")), messages: ["google.api.http: the rule has no HTTP method"] },
    { rpcs: rpc("Get", http('body: "*"', "⟦")), messages: ["the rule has no HTTP method"] },
    refused('⟦get: ""', '"": the path is empty'),
    refused('⟦get: "v1/x"', '"v1/x": the path must start with "/"'),
    refused('⟦post: "/v1/x?y=1"', "fields that the path does not bind become query parameters"),
    refused(
      'custom: {⟦kind: "head", path: "/v1/x"}',
      "HTTP methods are case-sensitive; write HEAD",
    ),
    refused(
      'custom: {⟦kind: "BREW", path: "/v1/x"}',
      "HTTP servers do not support the method BREW",
    ),
    refused(
      'custom: {⟦kind: "CONNECT", path: "/v1/x"}',
      "HTTP servers do not support the method CONNECT",
    ),
    refused('custom: {⟦kind: "", path: "/v1/x"}', '"" is not an HTTP method'),
    refused('custom: {⟦kind: "GET POST", path: "/v1/x"}', '"GET POST" is not an HTTP method'),
    refused(
      'custom: {⟦kind: "a b", ⟦path: "x"}',
      '"a b" is not an HTTP method',
      '"x": the path must start',
    ),
    {
      name: "a custom pattern without a kind",
      ...refused('custom: {⟦path: "/v1/x"}', '"" is not an HTTP method'),
    },
    refused(
      '⟦get: "/v1/{skill_id}"',
      'the variable "skill_id" is not a request field: "skill_id" is not a field of Request',
    ),
    refused('⟦get: "/v1/{inner.idd}"', 'did you mean "id"?'),
    refused(
      '⟦get: "/v1/{names}"',
      'the variable "names" names a repeated field, which a path cannot contain',
    ),
    refused('⟦get: "/v1/{labels}"', 'the variable "labels" names a repeated field'),
    refused(
      '⟦get: "/v1/{inner}"',
      'the variable "inner" names a message; name a field in it, such as inner.id',
    ),
    refused('⟦get: "/v1/{id.x}"', '"id" is a string and has no fields to name'),
    refused(
      '⟦⟦get: "/v1/{names}/{nope}"',
      '"names" names a repeated',
      '"nope" is not a request field',
    ),
    refused('get: "/v1/x" ⟦body: "*"', "a GET has no body; remove body"),
    refused('custom: {kind: "HEAD", path: "/v1/x"} ⟦body: "inner"', "a HEAD has no body"),
    refused(
      'post: "/v1/x" ⟦body: "iner"',
      'body "iner" is not a field: "iner" is not a field of Request; did you mean "inner"?',
    ),
    refused(
      'post: "/v1/x" ⟦body: "inner.inner"',
      'body "inner.inner" must name a field of Request itself',
    ),
    refused(
      'post: "/v1/{id}" ⟦body: "id"',
      'the field "id" is bound by the path and cannot be the body too',
    ),
    refused('get: "/v1/x" ⟦response_body: "*"', 'response_body cannot be "*"; leave it out'),
    refused(
      'get: "/v1/x" ⟦response_body: "inner.id"',
      'response_body "inner.id" must name a field of Response itself',
    ),
    refused(
      'get: "/v1/x" ⟦response_body: "names"',
      'response_body "names" is not a field: "names" is not a field of Response',
    ),
    {
      name: "all that is wrong with one rule",
      ...refused(
        '⟦get: "/v1/{nope}" ⟦body: "*" ⟦response_body: "nope"',
        "is not a request field",
        "a GET has no body",
        "is not a field",
      ),
    },
    {
      name: "an additional binding",
      ...refused(
        'get: "/v1/x" ⟦additional_bindings {post: "x"}',
        '"x": the path must start with "/"',
      ),
    },
    {
      name: "an additional binding of a list",
      ...refused(
        'get: "/v1/x" ⟦additional_bindings: [{get: "/v1/y"}, {get: "z"}]',
        '"z": the path must start',
      ),
    },
    {
      name: "an additional binding without a pattern",
      ...refused('get: "/v1/x" ⟦additional_bindings {body: "*"}', "the rule has no HTTP method"),
    },
    {
      name: "an additional binding inside another",
      ...refused(
        'get: "/v1/x" ⟦additional_bindings {get: "/v1/y" additional_bindings {get: "/v1/z"}}',
        "additional_bindings do not nest; list them side by side",
      ),
    },
    {
      name: "pieces",
      rpcs: rpc(
        "Do",
        'option (google.api.http).post = "/v1/{id}";',
        '⟦option (google.api.http).body = "id";',
      ),
      messages: ['the field "id" is bound by the path'],
    },
  ],
});
