/**
 * What work costs this process, in milliseconds of a processor. Unlike the time on the wall it does
 * not grow with what others do on the machine; a slower processor needs bounds with room.
 */
export function cpuMilliseconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
