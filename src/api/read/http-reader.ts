import type { HttpBinding, HttpRule, HttpRuleProblem } from "../api.ts";
import type { MessageIndex } from "../descriptors/message-index.ts";
import { eachField, WireType } from "../descriptors/wire.ts";
import { describeMissingField, type FieldReference } from "../field.ts";
import { parsePathTemplate } from "../path-template.ts";

/** The methods that `HttpRule.pattern` names, by field number. */
const PATTERN_METHODS: Readonly<Record<number, string>> = {
  2: "GET",
  3: "PUT",
  4: "POST",
  5: "DELETE",
  6: "PATCH",
};
const CUSTOM = 8;
const BODY = 7;
const ADDITIONAL_BINDINGS = 11;
const RESPONSE_BODY = 12;

/** An RFC 9110 method; `*` for any. */
const METHOD = /^(?:\*|[A-Za-z0-9!#$%&'+\-.^_`|~]+)$/;

/** The methods that Node.js accepts, except CONNECT, which does not request a resource; `*` for any. */
const SERVED_METHODS: ReadonlySet<string> = new Set(
  (
    "* ACL BIND CHECKOUT COPY DELETE GET HEAD LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY " +
    "OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND " +
    "UNLINK UNLOCK UNSUBSCRIBE"
  ).split(" "),
);

interface DeclaredHttpRule {
  method?: string;
  path?: string;
  /** The number of the field that holds the pattern. */
  pattern: number;
  body?: string;
  responseBody?: string;
  additionalBindings: DeclaredHttpRule[];
}

/** The request and response message, whose fields an HTTP rule names. */
interface Sides {
  readonly request: string;
  readonly response: string;
}

/**
 * Decodes `google.api.http` and parses its bindings.
 *
 * @returns the rule and its additional bindings, in order; empty without the option.
 */
export function readHttpRules(
  occurrences: readonly Uint8Array[],
  sides: Sides,
  messages: MessageIndex,
): HttpRule[] {
  if (occurrences.length === 0) return [];
  const rule = newRule();
  for (const bytes of occurrences) mergeRule(bytes, rule, 0);
  return [
    parseRule(rule, [], sides, messages),
    ...rule.additionalBindings.map((additional, index) =>
      parseRule(additional, [ADDITIONAL_BINDINGS, index], sides, messages),
    ),
  ];
}

function newRule(): DeclaredHttpRule {
  return { pattern: 0, additionalBindings: [] };
}

/** The specification allows one level of additional bindings; a few more are read, so that they can be reported. */
const MAX_NESTING = 4;

function mergeRule(bytes: Uint8Array, rule: DeclaredHttpRule, depth: number): void {
  eachField(bytes, (field, wireType, reader) => {
    if (wireType !== WireType.LengthDelimited) return false;
    const method = PATTERN_METHODS[field];
    if (method !== undefined) {
      setPattern(rule, field, method, reader.string());
    } else if (field === CUSTOM) {
      // Occurrences merge, but another pattern in between clears those before it.
      if (rule.pattern !== CUSTOM) setPattern(rule, field, "", "");
      mergeCustom(reader.bytes(), rule);
    } else if (field === BODY) rule.body = reader.string();
    else if (field === RESPONSE_BODY) rule.responseBody = reader.string();
    else if (field === ADDITIONAL_BINDINGS && depth < MAX_NESTING) {
      const additional = newRule();
      mergeRule(reader.bytes(), additional, depth + 1);
      rule.additionalBindings.push(additional);
    } else return false;
    return true;
  });
}

function setPattern(rule: DeclaredHttpRule, field: number, method: string, path: string): void {
  rule.pattern = field;
  rule.method = method;
  rule.path = path;
}

function mergeCustom(bytes: Uint8Array, rule: DeclaredHttpRule): void {
  eachField(bytes, (field, wireType, reader) => {
    if (wireType !== WireType.LengthDelimited) return false;
    if (field === 1) rule.method = reader.string();
    else if (field === 2) rule.path = reader.string();
    else return false;
    return true;
  });
}

function parseRule(
  rule: DeclaredHttpRule,
  path: readonly number[],
  sides: Sides,
  messages: MessageIndex,
): HttpRule {
  const problems: HttpRuleProblem[] = [];
  const report = (message: string, ...at: number[]) => problems.push({ message, path: at });
  if (path.length > 0 && rule.additionalBindings.length > 0) {
    report("additional_bindings do not nest; list them side by side", ADDITIONAL_BINDINGS);
  }
  if (rule.method === undefined || rule.path === undefined) {
    report('the rule has no HTTP method; write, for example, get: "/v1/things"');
    return { path, problems };
  }
  const { method } = rule;
  if (!METHOD.test(method)) {
    report(`"${method}" is not an HTTP method`, CUSTOM, 1);
  } else if (rule.pattern === CUSTOM && method !== method.toUpperCase()) {
    report(`HTTP methods are case-sensitive; write ${method.toUpperCase()}`, CUSTOM, 1);
  } else if (!SERVED_METHODS.has(method)) {
    report(`HTTP servers do not support the method ${method}; use another one`, CUSTOM, 1);
  }
  const parsed = parsePathTemplate(rule.path);
  const at = rule.pattern === CUSTOM ? [CUSTOM, 2] : [rule.pattern];
  if (parsed.error !== undefined) {
    report(`"${rule.path}": ${parsed.error}`, ...at);
    return { path, problems };
  }
  const { template } = parsed;
  const fields = template.variables.map(({ field }): FieldReference => {
    return { path: field, found: messages.lookup(sides.request, field) };
  });
  for (const field of fields) {
    const problem = variableProblem(field);
    if (problem !== undefined) report(problem, ...at);
  }
  const body = rule.body === "" ? undefined : rule.body;
  if (body !== undefined) {
    const problem = bodyProblem(body, method, fields, sides, messages);
    if (problem !== undefined) report(problem, BODY);
  }
  const responseBody = rule.responseBody === "" ? undefined : rule.responseBody;
  if (responseBody !== undefined) {
    const problem = bodyFieldProblem("response_body", responseBody, sides.response, messages);
    if (problem !== undefined) report(problem, RESPONSE_BODY);
  }
  if (problems.length > 0) return { path, problems };
  const binding: HttpBinding = {
    method,
    path: rule.path,
    template,
    fields,
    ...(body === undefined ? {} : { body }),
    ...(responseBody === undefined ? {} : { responseBody }),
  };
  return { path, binding, problems };
}

function variableProblem({ path, found }: FieldReference): string | undefined {
  if (found.status !== "found") {
    return `the variable "${path}" is not a request field: ${describeMissingField(found)}`;
  }
  if (found.repeated) {
    return `the variable "${path}" names a repeated field, which a path cannot contain`;
  }
  if (found.kind === "message") {
    return `the variable "${path}" names a message; name a field in it, such as ${path}.id`;
  }
  return undefined;
}

function bodyProblem(
  body: string,
  method: string,
  variables: readonly FieldReference[],
  sides: Sides,
  messages: MessageIndex,
): string | undefined {
  if (method === "GET" || method === "HEAD") {
    return `a ${method} has no body; remove body, and the fields become query parameters`;
  }
  if (body === "*") return undefined;
  if (variables.some(({ path }) => path === body)) {
    return `the field "${body}" is bound by the path and cannot be the body too`;
  }
  return bodyFieldProblem("body", body, sides.request, messages);
}

function bodyFieldProblem(
  option: "body" | "response_body",
  field: string,
  message: string,
  messages: MessageIndex,
): string | undefined {
  if (field === "*") return 'response_body cannot be "*"; leave it out for the whole response';
  if (field.includes(".")) {
    return `${option} "${field}" must name a field of ${message} itself, not a nested field`;
  }
  const found = messages.lookup(message, field);
  if (found.status === "found") return undefined;
  return `${option} "${field}" is not a field: ${describeMissingField(found)}`;
}
