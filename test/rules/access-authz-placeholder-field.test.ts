import { accessAuthzPlaceholderField } from "../../src/rules/access-authz-placeholder-field.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc } from "./sources.ts";

const authorized = (resource: string, mark = "") =>
  rpc(
    "Get",
    policy(`exposure: AUTHORIZED authz: {action: "view", ${mark}resource: "${resource}"}`),
  );

/** A wrong resource, and a part of the message of each finding. */
const refused = (resource: string, ...messages: string[]) => {
  return { rpcs: authorized(resource, "⟦".repeat(messages.length)), messages };
};

const LEDGERS = 'get: "/v1/{id=merchants/*/ledgers/*}"';
const bound = (rule: string, resource: string, mark = "") =>
  rpc(
    "Get",
    http(rule),
    policy(`exposure: AUTHORIZED authz: {action: "view", ${mark}resource: "${resource}"}`),
  );
const refusedSegment = (rule: string, resource: string, message: string) => {
  return { rpcs: bound(rule, resource, "⟦"), messages: [message] };
};

testRule(accessAuthzPlaceholderField, {
  shows: "what a placeholder may name [ANNO-6]",
  valid: [
    ...["merchants", "ledgers", "1", "2"].map((name) => bound(LEDGERS, `x_y:{id.${name}}`)),
    bound('get: "/v1/{inner.id=merchants/*}:run"', "merchant:{inner.id.merchants}"),
    bound('get: "/v1/{id=a-b/*}"', "merchant:{id.a-b}"),
    bound(
      `${LEDGERS} additional_bindings {get: "/v1/{id=shops/*/ledgers/*}"}`,
      "ledger:{id.ledgers}",
    ),
    bound(`${LEDGERS} additional_bindings {get: "/v1/one"}`, "ledger:{id.ledgers}"),
    ...["id", "number", "color", "left", "right", "maybe"].map((field) =>
      authorized(`skill:{${field}}`),
    ),
    ...["inner.id", "inner.number", "inner.inner.inner.id"].map((field) =>
      authorized(`skill:{${field}}`),
    ),
    ...["subject_id", "username", "name", "email", "organization_id", "source"].map((field) =>
      authorized(`skill:{principal.${field}}`),
    ),
    authorized("skill:*"),
    authorized("skill:fixed"),
    authorized("skill:{id}-{number}"),
    {
      name: "a resource that does not parse, which another rule reports",
      rpcs: authorized("skill"),
    },
    rpc("Get"),
    {
      name: "an integer of every kind",
      rpcs: ["int64", "uint32", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64"]
        .map(
          (kind) =>
            `rpc Get_${kind}(Integers) returns (Response) {${policy(`exposure: AUTHORIZED authz {action: "view" resource: "skill:{of_${kind}}"}`)}}`,
        )
        .join("\n"),
      declarations: `message Integers {
        int64 of_int64 = 1; uint32 of_uint32 = 2; sint32 of_sint32 = 3; sint64 of_sint64 = 4;
        fixed32 of_fixed32 = 5; fixed64 of_fixed64 = 6; sfixed32 of_sfixed32 = 7; sfixed64 of_sfixed64 = 8;
      }`,
    },
    {
      name: "fields of proto2, also of a group",
      syntax: 'syntax = "proto2";',
      rpcs: `rpc Get(Old) returns (Response) {${policy('exposure: AUTHORIZED authz {action: "view" resource: "skill:{id}-{part.id}"}')}}`,
      declarations:
        "message Old { required string id = 1; optional group Part = 2 { optional string id = 1; } }",
    },
    {
      name: "fields of an edition, also delimited ones",
      syntax: 'edition = "2023";',
      rpcs: `rpc Get(New) returns (Response) {${policy('exposure: AUTHORIZED authz {action: "view" resource: "skill:{id}-{part.id}"}')}}`,
      declarations:
        "message New { string id = 1 [features.field_presence = LEGACY_REQUIRED]; Part part = 2 [features.message_encoding = DELIMITED]; message Part { string id = 1; } }",
    },
  ],
  invalid: [
    refusedSegment(
      LEDGERS,
      "merchant:{id.merchant}",
      "{id.merchant} is not a request field: merchants/*/ledgers/* has no segment merchant; it has merchants, ledgers",
    ),
    refusedSegment(LEDGERS, "merchant:{id.3}", "has no segment 3"),
    refusedSegment(LEDGERS, "merchant:{id.merchants.x}", "has no fields to name"),
    refusedSegment(LEDGERS, "merchant:{number.merchants}", '"number" is a int32'),
    refusedSegment(LEDGERS, "merchant:{parent.merchants}", "no path variable binds"),
    refusedSegment('get: "/v1/{id=files/**}"', "file:{id.files}", 'no segment "*" follows files'),
    refusedSegment('get: "/v1/{id=a/*/a/*}"', "a_b:{id.a}", "has a twice; name the segment by its"),
    refusedSegment(
      `${LEDGERS} additional_bindings {get: "/v1/{id=shops/*/ledgers/*}"}`,
      "merchant:{id.merchants}",
      "shops/*/ledgers/* has no segment merchants; it has shops, ledgers",
    ),
    refused("skill:{skill}", '{skill} is not a request field: "skill" is not a field of Request'),
    refused("skill:{idd}", 'did you mean "id"?'),
    refused("skill:{inner.nmber}", '"nmber" is not a field of Inner; did you mean "number"?'),
    refused("skill:{id.x}", '"id" is text that no path variable binds, so it has no segments'),
    refused("skill:{inner.list.id}", '"list" is repeated and has no fields to name'),
    refused("skill:{labels.key}", '"labels" is repeated and has no fields to name'),
    refused("skill:{names}", "{names} is repeated; a resource is one object"),
    refused("skill:{labels}", "{labels} is repeated; a resource is one object"),
    refused("skill:{inner.list}", "{inner.list} is repeated"),
    refused(
      "skill:{flag}",
      "{flag} is a bool; a placeholder names a string, integer or enum field",
    ),
    refused("skill:{ratio}", "{ratio} is a double"),
    refused("skill:{data}", "{data} is a bytes"),
    refused("skill:{inner}", "name a field in it, such as {inner.id}"),
    refused("skill:{choice}", '"choice" is not a field of Request'),
    refused("skill:{Id}", '"Id" is not a field of Request'),
    refused(
      "skill:{principal}",
      "{principal} is the caller; name a field of it, such as {principal.subject_id}",
    ),
    refused("skill:{principal.organisation_id}", 'did you mean "organization_id"?'),
    refused(
      "skill:{principal.zzzzzzzz}",
      "is not a field of the principal; the fields are subject_id, ",
    ),
    refused("skill:{principal.email.x}", "{principal.email.x} is not a field of the principal"),
    refused("skill:{principal.OrgID}", "{principal.OrgID} is not a field of the principal"),
    ...["groups", "roles", "scopes"].map((field) =>
      refused(
        `skill:{principal.${field}}`,
        `{principal.${field}} is a list; a resource is one object`,
      ),
    ),
    refused("skill:{flag}-{names}", "{flag} is a bool", "{names} is repeated"),
    refused(
      "skill:{data}-{principal.role}",
      "{data} is a bytes",
      "{principal.role} is not a field of the principal",
    ),
    {
      name: "a float of a message in the same package",
      rpcs: `rpc Get(Own) returns (Response) {${policy('exposure: AUTHORIZED authz {action: "view" ⟦resource: "skill:{f}"}')}}`,
      declarations: "message Own { float f = 1; }",
      messages: ["{f} is a float"],
    },
    {
      name: "a field that the option names by the piece",
      rpcs: rpc("Get", '⟦option (svc.access.v1.policy).authz.resource = "skill:{nothing}";'),
      messages: ['"nothing" is not a field of Request'],
    },
  ],
});
