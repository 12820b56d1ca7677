/**
 * How much the tests try. With `CI=true` all of it; else a part that says in minutes whether a
 * change is right: fewer random inputs, other ones each time, and of a matrix some cells of each
 * row and each column.
 */
export const IS_THOROUGH = process.env["CI"] === "true";

const PART = 5;

/** A number of runs, kills or calls. @param all the number in CI @param part the number elsewhere */
export function runs(all: number, part = Math.ceil(all / PART)): number {
  return IS_THOROUGH ? all : part;
}

/**
 * The columns that a row of a matrix is tried with: all of them in CI, else those whose turn it is.
 * Each column has its turn once in as many rows, and each row has one at least.
 */
export function columnsOf<Column>(
  columns: readonly Column[],
  row: number,
  turns: number,
): readonly Column[] {
  const step = IS_THOROUGH ? 1 : Math.min(turns, columns.length);
  return columns.filter((_, column) => (column + row) % step === 0);
}
