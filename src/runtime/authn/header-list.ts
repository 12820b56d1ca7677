import { ServiceError } from "../error/service-error.ts";

const MAX_ITEMS = 1000;
const MAX_ITEM_LENGTH = 256;
/** Shared by all calls, so nobody may add to it. */
const NONE: readonly string[] = Object.freeze([]);

/**
 * The items of a list in a header: separated by commas, or a JSON array of strings.
 *
 * @throws ServiceError INVALID_ARGUMENT where it is neither, or too long
 */
export function parseHeaderList(header: string, value: string): readonly string[] {
  if (value === "") return NONE;
  // Only the white space around commas is none of the item's: to trim " admin" would make it "admin".
  return value.trimStart().startsWith("[")
    ? checkItems(header, parseArray(header, value))
    : checkItems(
        header,
        value.split(",").map((item) => item.trim()),
      );
}

function checkItems(header: string, items: readonly string[]): readonly string[] {
  if (items.length > MAX_ITEMS) throw invalidList(header, `has more than ${MAX_ITEMS} items`);
  if (items.some(({ length }) => length > MAX_ITEM_LENGTH)) {
    throw invalidList(header, "has an item that is too long");
  }
  return items.filter((item) => item !== "");
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
