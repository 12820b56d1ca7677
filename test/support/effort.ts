/**
 * The effort of tests. With `CI=true`, they try everything; otherwise, a part that checks a change in
 * minutes: fewer random inputs, different ones in each run, and some cells of each row and column of a
 * matrix.
 */
export const IS_THOROUGH = process.env["CI"] === "true";

const PART = 5;

/** A number of runs, kills or calls. @param all the number in CI @param part the number elsewhere */
export function runs(all: number, part = Math.ceil(all / PART)): number {
  return IS_THOROUGH ? all : part;
}

/**
 * The columns to try for a row of a matrix: all of them in CI, else a rotating selection, in which each
 * column occurs regularly and each row has at least one.
 */
export function columnsOf<Column>(
  columns: readonly Column[],
  row: number,
  turns: number,
): readonly Column[] {
  const step = IS_THOROUGH ? 1 : Math.min(turns, columns.length);
  return columns.filter((_, column) => (column + row) % step === 0);
}
