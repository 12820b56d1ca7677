/**
 * What work comes to, waited for no longer than some time. The work itself goes on, and
 * what it comes to later is ignored. The wait keeps the process alive: work that is
 * waited for is not left because nothing else happens.
 *
 * @param late what it comes to once the time is up; it may throw instead
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
