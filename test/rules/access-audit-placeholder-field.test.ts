import { accessAuditPlaceholderField } from "../../src/rules/access-audit-placeholder-field.ts";
import { testRule } from "./rule-tester.ts";
import { policy, rpc, streamRpc } from "./sources.ts";

const audit = (resource: string, mark = "") =>
  policy(`exposure: INTERNAL audit: {event: "a.b", ${mark}resource: "${resource}"}`);
const audited = (resource: string, mark = "") => rpc("Get", audit(resource, mark));

testRule(accessAuditPlaceholderField, {
  valid: [
    ...["id", "number", "color", "left", "right", "maybe", "inner.id", "inner.inner.number"].map(
      (field) => audited(`session:{${field}}`),
    ),
    ...["subject_id", "organization_id"].map((field) => audited(`session:{principal.${field}}`)),
    audited("session:*"),
    audited("session:fixed"),
    { name: "one that does not parse, which another rule reports", rpcs: audited("session") },
    rpc("Get"),
    streamRpc("Request", "stream Response", audit("session:{id}")),
    streamRpc("stream Request", "Response", audit("session:fixed/{principal.subject_id}")),
  ],
  invalid: [
    ...(
      [
        ["{session}", '{session} is not a request field: "session" is not a field of Request'],
        ["{idd}", 'did you mean "id"?'],
        ["{names}", "{names} is repeated; a resource is one object"],
        ["{flag}", "{flag} is a bool"],
        ["{data}", "{data} is a bytes"],
        ["{inner}", "name a field in it, such as {inner.id}"],
        ["{principal}", "{principal} is the caller; name a field of it"],
        ["{principal.roles}", "{principal.roles} is a list; a resource is one object"],
        ["{principal.zzzzzzzz}", "is not a field of the principal"],
      ] as const
    ).map(([placeholder, message]) => {
      return {
        rpcs: audited(`session:${placeholder}`, "⟦"),
        messages: [message],
      };
    }),
    ...(["Response", "stream Response"] as const).map((response) => {
      return {
        rpcs: streamRpc("stream Request", response, audit("session:{id}", "⟦")),
        messages: ["{id} cannot be read, as the client of Stream streams many requests"],
      };
    }),
  ],
});
