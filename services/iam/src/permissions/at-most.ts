import { ServiceError } from "svc-access/runtime";

/** @throws ServiceError INVALID_ARGUMENT if a call has more of something than it may */
export function assertAtMost(what: string, count: number, limit: number): void {
  if (count <= limit) return;
  throw new ServiceError("INVALID_ARGUMENT", `a call has at most ${limit} ${what}, not ${count}`);
}
