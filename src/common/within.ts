/**
 * Waits for the result of work, but only for a limited time. The work itself continues, and a
 * late result is ignored. The wait keeps the process alive, so that Node.js does not exit
 * while the work is pending.
 *
 * @param late - makes the result after the timeout; it may also throw
 */
export async function within<Result, Late>(
  work: Promise<Result>,
  milliseconds: number,
  late: () => Late,
): Promise<Result | Late> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    return await Promise.race([work, end.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
