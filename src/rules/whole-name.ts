import type { Rpc } from "../api/api.ts";
import { isCollectionOf } from "../api/collection.ts";
import { namePatternsOf, segmentNames } from "../api/name-pattern.ts";

/** A placeholder of `authz.resource` that takes a whole resource name, such as `merchants/*`. */
export interface WholeName {
  /** The path of the field. */
  readonly path: string;
  readonly pattern: string;
  /** The placeholder that names the segment that is likely meant; absent where none can be named. */
  readonly instead?: string;
  /** Whether the name holds an object of the checked type, but is that of another one. */
  readonly isOther: boolean;
}

/** The placeholders of an RPC's resource that take a whole name of several segments. */
export function wholeNames({ resource, http }: Rpc): WholeName[] {
  if (resource?.template === undefined || resource.template.id === "*") return [];
  const { type, id } = resource.template;
  return id.flatMap((part): WholeName[] => {
    if (part.kind !== "field") return [];
    const found = namePatternsOf(part.path, http)
      .filter((pattern) => pattern.includes("/"))
      .map((pattern) => wholeName(part.path, pattern, type));
    // A finding a placeholder: the pattern that can never match, where there is one.
    const worst = found.find(({ isOther }) => isOther) ?? found[0];
    return worst === undefined ? [] : [worst];
  });
}

function wholeName(path: string, pattern: string, type: string): WholeName {
  const segments = pattern.split("/");
  const places = [...segments.keys()].filter(
    (index) => segments[index + 1] === "*" && isCollectionOf(segments[index] ?? "", type),
  );
  const isOther = places.length > 0 && !places.includes(segments.length - 2);
  const named = isOther ? segments[places[0] as number] : segmentNames(pattern).at(-1);
  const found = { path, pattern, isOther };
  return named === undefined ? found : { ...found, instead: `{${path}.${named}}` };
}
