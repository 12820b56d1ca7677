import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import type { HttpRoute } from "../../binding/service-binding.ts";
import { invalidArgument, shown } from "../../error/service-error.ts";
import { fieldsByName, hasOwnJsonForm } from "../../json/field-names.ts";
import { childOf, type FieldSetter, fieldSetter } from "../../json/field-setter.ts";
import { decodeQueryText } from "./percent-encoding.ts";

/** Writes the parameters of a query into a request. */
export type QueryBinder = (request: Message, query: string) => void;

/** No RPC needs more. */
const MAX_PARAMETERS = 256;
/** The maximum depth of a parameter's name in messages. */
const MAX_DEPTH = 16;

/** A field that a parameter names, and how it is written. */
interface Leaf {
  readonly field: DescField;
  /** Undefined if the field cannot be written as text. */
  readonly set: FieldSetter | undefined;
}

const leaves = new WeakMap<DescField, Leaf>();

/**
 * Compiles how a route reads its query: each parameter is a field that neither the path nor the
 * body binds, by its protobuf or its JSON names, with dots into messages. Other parameters are
 * refused, so that a misspelt filter does not list everything.
 */
export function compileQuery(route: HttpRoute, input: DescMessage): QueryBinder {
  const bound = [
    ...route.variables.map(({ field }) => field),
    ...(route.body === undefined || route.body === "*" ? [] : [route.body]),
  ];
  const bindsAll = route.body === "*";
  return (request, query) => {
    const seen = new Set<string>();
    let count = 0;
    for (const piece of query.split("&")) {
      if (piece === "") continue;
      if (++count > MAX_PARAMETERS) {
        throw invalidArgument(`the query has more than ${MAX_PARAMETERS} parameters`);
      }
      const equals = piece.indexOf("=");
      const name = decodeQueryText(equals < 0 ? piece : piece.slice(0, equals));
      if (name === undefined) throw invalidArgument("the query has a malformed escape");
      const value = equals < 0 ? "" : decodeQueryText(piece.slice(equals + 1));
      if (value === undefined) {
        throw invalidArgument(`the parameter ${shown(name)} has a malformed escape`);
      }
      if (bindsAll) {
        throw invalidArgument(`the parameter ${shown(name)} must be given in the body`);
      }
      setParameter(request, input, { name, value, bound, seen });
    }
  };
}

interface Parameter {
  readonly name: string;
  readonly value: string;
  /** Field paths that the path or the body binds. */
  readonly bound: readonly string[];
  /** Field paths that were given already. */
  readonly seen: Set<string>;
}

function setParameter(request: Message, input: DescMessage, parameter: Parameter): void {
  const what = `the parameter ${shown(parameter.name)}`;
  const names = parameter.name.split(".");
  if (names.length > MAX_DEPTH) throw invalidArgument(`${what} is nested too deep`);
  const parents: (DescField & { message: DescMessage })[] = [];
  let message = input;
  let path = "";
  for (const [index, name] of names.entries()) {
    const field = fieldsByName(message).get(name);
    if (field === undefined) throw invalidArgument(`${what} is not known`);
    path = index === 0 ? field.name : `${path}.${field.name}`;
    if (index < names.length - 1) {
      if (field.fieldKind !== "message" || hasOwnJsonForm(field.message)) {
        throw invalidArgument(`${what} is not known`);
      }
      parents.push(field);
      message = field.message;
      continue;
    }
    const set = leafOf(field).set ?? presenceOf(field, parameter.value);
    if (set === undefined) throw invalidArgument(`${what} cannot be given in the query`);
    const taken = parameter.bound.find((other) => isWithin(path, other) || isWithin(other, path));
    if (taken !== undefined) {
      throw invalidArgument(`${what} is already given by the path or the body`);
    }
    if (field.fieldKind !== "list" && parameter.seen.has(path)) {
      throw invalidArgument(`${what} is given twice`);
    }
    parameter.seen.add(path);
    let target = request;
    for (const parent of parents) target = childOf(target, parent);
    set(target, parameter.value, what);
  }
}

function leafOf(field: DescField): Leaf {
  let leaf = leaves.get(field);
  if (leaf === undefined) {
    leaf = { field, set: fieldSetter(field) };
    leaves.set(field, leaf);
  }
  return leaf;
}

/** A message without a value of its own is set to empty, which no other parameter can express. */
function presenceOf(field: DescField, value: string): FieldSetter | undefined {
  if (value !== "" || field.fieldKind !== "message" || hasOwnJsonForm(field.message)) {
    return undefined;
  }
  return (message) => void childOf(message, field);
}

/** Whether a field is another one, or inside it. */
function isWithin(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}.`);
}
