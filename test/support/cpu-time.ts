/**
 * The CPU time of work in this process, in milliseconds. Unlike elapsed time, it does not grow with the
 * load of the machine; bounds must leave room for slower processors.
 */
export function cpuMilliseconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
