import {
  clearField,
  type DescField,
  type DescMessage,
  equals,
  type Message,
} from "@bufbuild/protobuf";
import type { HttpRoute, HttpRouteVariable } from "../../binding/service-binding.ts";
import { invalidArgument } from "../../error/service-error.ts";
import { StartUpError } from "../../error/start-up-error.ts";
import { fieldsByName, hasOwnJsonForm } from "../../json/field-names.ts";
import { childOf, fieldSetter, valueOf } from "../../json/field-setter.ts";
import { decodeSegment, decodeSegments } from "./percent-encoding.ts";

/** Writes the values of path variables into a request. */
export type PathBinder = (request: Message, segments: readonly string[]) => void;

/** A field inside a message that has fields of its own. */
type MessageField = DescField & { fieldKind: "message"; message: DescMessage };

/**
 * Compiles the variables of a route.
 *
 * @throws StartUpError if a variable names a field that a path cannot contain, which generated code
 * never has
 */
export function compilePathVariables(route: HttpRoute, input: DescMessage): PathBinder {
  const binders = route.variables.map((variable) => compileVariable(route, variable, input));
  const [only] = binders;
  if (only !== undefined && binders.length === 1) return only;
  return (request, segments) => {
    for (const bind of binders) bind(request, segments);
  };
}

function compileVariable(
  route: HttpRoute,
  variable: HttpRouteVariable,
  input: DescMessage,
): PathBinder {
  const what = `the path variable "${variable.field}"`;
  const { parents, field } = resolve(route, variable, input);
  const set = fieldSetter(field);
  if (set === undefined)
    throw new StartUpError([`${route.path}: ${what} names a field that a path cannot contain`]);
  const read = compileText(route, variable);
  // Only a body can have set the field before.
  const mayBeSet = route.body !== undefined;
  return (request, segments) => {
    const text = read(segments);
    if (text === undefined) throw invalidArgument(`${what} has a malformed escape`);
    let message = request;
    for (const parent of parents) message = childOf(message, parent);
    const before = mayBeSet ? valueOf(message, field) : undefined;
    // Otherwise a message would be changed in place, and compared with itself.
    if (before !== undefined) clearField(message, field);
    set(message, text, what);
    if (before !== undefined && !isSame(field, before, valueOf(message, field))) {
      throw invalidArgument(`the body has another value for "${variable.field}" than the path`);
    }
  };
}

function resolve(
  route: HttpRoute,
  variable: HttpRouteVariable,
  input: DescMessage,
): { parents: MessageField[]; field: DescField } {
  const names = variable.field.split(".");
  const parents: MessageField[] = [];
  let message = input;
  for (const [index, name] of names.entries()) {
    const field = fieldsByName(message).get(name);
    if (field === undefined) {
      throw new StartUpError([`${route.path}: ${message.typeName} has no field "${name}"`]);
    }
    if (index === names.length - 1) return { parents, field };
    if (field.fieldKind !== "message" || hasOwnJsonForm(field.message)) {
      throw new StartUpError([
        `${route.path}: "${variable.field}" goes through a field that is not a message with fields`,
      ]);
    }
    parents.push(field as MessageField);
    message = field.message;
  }
  throw new StartUpError([`${route.path}: a variable has no name`]);
}

/** The text of a variable: one segment is decoded as a whole, several keep their encoded slashes. */
function compileText(
  route: HttpRoute,
  { start, end }: HttpRouteVariable,
): (segments: readonly string[]) => string | undefined {
  const isLast = end === route.segments.length;
  const isOpen = isLast && route.segments[end - 1] === "**";
  const verbLength = isLast && route.verb !== undefined ? route.verb.length + 1 : 0;
  if (end - start === 1 && !isOpen) {
    return (segments) => {
      const segment = segments[start] as string;
      return decodeSegment(verbLength === 0 ? segment : segment.slice(0, -verbLength));
    };
  }
  return (segments) => {
    const last = isOpen ? segments.length : end;
    // `**` may match no segment: then the verb ends the literal before it.
    if (last <= start) return "";
    const text = segments.slice(start, last).join("/");
    return decodeSegments(verbLength === 0 ? text : text.slice(0, -verbLength));
  };
}

function isSame(field: DescField, left: unknown, right: unknown): boolean {
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    return Buffer.compare(left, right) === 0;
  }
  if (field.fieldKind === "message" && typeof left === "object" && typeof right === "object") {
    return equals(field.message, left as Message, right as Message);
  }
  return left === right;
}
