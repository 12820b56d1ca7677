import { ServiceError } from "../error/service-error.ts";

const MAX_ITEMS = 1000;
const MAX_ITEM_LENGTH = 256;
const NONE: readonly string[] = [];

/**
 * The items of a list in a header: separated by commas, or a JSON array of strings.
 *
 * @throws ServiceError INVALID_ARGUMENT where it is neither, or too long
 */
export function parseHeaderList(header: string, value: string): readonly string[] {
  if (value === "") return NONE;
  const items = value.trimStart().startsWith("[") ? parseArray(header, value) : value.split(",");
  if (items.length > MAX_ITEMS) throw invalidList(header, `has more than ${MAX_ITEMS} items`);
  const list: string[] = [];
  for (const item of items) {
    const text = item.trim();
    if (text.length > MAX_ITEM_LENGTH) throw invalidList(header, "has an item that is too long");
    if (text !== "") list.push(text);
  }
  return list;
}

function parseArray(header: string, value: string): string[] {
  let array: unknown;
  try {
    array = JSON.parse(value);
  } catch {
    array = undefined;
  }
  if (!Array.isArray(array) || !array.every((item) => typeof item === "string" && isClean(item))) {
    throw invalidList(header, "must be a list with commas, or a JSON array of strings");
  }
  return array;
}

/** Escapes of JSON could write what no header may hold. */
function isClean(text: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(text);
}

function invalidList(header: string, why: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", `the header ${header} ${why}`);
}
