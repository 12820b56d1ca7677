import type { HttpRule, Rpc } from "../../api/api.ts";
import { isCollectionOf, namePatternsOf, segmentNames } from "../../api/name-pattern.ts";
import { segmentPlaceholder } from "./path-objects.ts";

/** A placeholder of `authz.resource` for a whole resource name, such as `merchants/*`. */
export interface WholeName {
  /** The path of the field. */
  readonly path: string;
  readonly pattern: string;
  /** The placeholders of the segments that are probably meant; absent if there are none. */
  readonly instead?: string;
  /** Whether the name belongs to another object but contains an object of the checked type. */
  readonly isOther: boolean;
}

/** The placeholders of an RPC's resource for whole names of several segments. */
export function wholeNames({ resource, http }: Rpc): WholeName[] {
  if (resource?.template === undefined || resource.template.id === "*") return [];
  const { type, id } = resource.template;
  return id.flatMap((part): WholeName[] => {
    if (part.kind !== "field") return [];
    const found = namePatternsOf(part.path, http)
      .filter((pattern) => pattern.includes("/"))
      .map((pattern) => wholeName(part.path, pattern, type, http));
    // One finding per placeholder: for the pattern that can never match, if there is one.
    const worst = found.find(({ isOther }) => isOther) ?? found[0];
    return worst === undefined ? [] : [worst];
  });
}

function wholeName(
  path: string,
  pattern: string,
  type: string,
  http: readonly HttpRule[],
): WholeName {
  const segments = pattern.split("/");
  const places = [...segments.keys()].filter(
    (index) => segments[index + 1] === "*" && isCollectionOf(segments[index] ?? "", type),
  );
  const isOther = places.length > 0 && !places.includes(segments.length - 2);
  const found = { path, pattern, isOther };
  if (isOther) return { ...found, instead: `{${path}.${segments[places[0] as number]}}` };
  const placeholders = segmentNames(pattern).map((name) => segmentPlaceholder(path, name, http));
  if (placeholders.at(-1) === undefined) return found;
  // Include the segments above the last one, so that the check verifies that they belong together.
  const named = placeholders.flatMap((each) => (each === undefined ? [] : [`{${each}}`]));
  return { ...found, instead: named.join("/") };
}
