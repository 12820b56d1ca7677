/** The array where it has that many places, else a longer one with what it holds. */
export function grown(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  if (length <= array.length) return array;
  const longer = new Int32Array(Math.max(length, 1024, Math.ceil(array.length * 1.4)));
  longer.set(array);
  return longer;
}
