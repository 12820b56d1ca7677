/** CI takes the time; whoever works gets a part of the random inputs, other ones each time. */
export const IS_THOROUGH = process.env["CI"] === "true";

const PART = 5;

/** How many random inputs a property is tried with. @param thorough the number in CI */
export function runs(thorough: number): number {
  return IS_THOROUGH ? thorough : Math.ceil(thorough / PART);
}
