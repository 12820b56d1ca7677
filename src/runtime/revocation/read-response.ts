import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { callerType } from "../../api/identity-headers.ts";
import type {
  Revocation as RevocationMessage,
  WatchRevocationsResponse,
} from "../../gen/proto/svc/iam/v1/revocation_pb.ts";
import { MAX_BATCH, MAX_ID_LENGTH, MAX_TIME, type Revocation } from "./revocation.ts";

/** A response of the feed, checked. */
export interface FeedPart {
  readonly position: string;
  readonly snapshotBegin: boolean;
  readonly revocations: readonly Revocation[];
  readonly current: boolean;
  /** The clock of the feed, in milliseconds since the epoch. */
  readonly time: number;
}

const MAX_POSITION_LENGTH = 1024;

/**
 * Checks a response of the feed: a revocation that is not understood must not be ignored.
 *
 * @throws Error if it cannot be used; its message says why, without any text of the response
 */
export function readResponse(response: WatchRevocationsResponse): FeedPart {
  const { position, snapshotBegin, current } = response;
  if (position.length > MAX_POSITION_LENGTH) throw new Error("it sent a position that is too long");
  if (current && position === "") throw new Error("it sent no position");
  const time = millisecondsOf(response.time);
  if (time === undefined) throw new Error("it sent no valid time");
  if (response.revocations.length > MAX_BATCH) throw new Error("it sent too many at once");
  const revocations = response.revocations.map(revocationOf);
  return { position, snapshotBegin, revocations, current, time };
}

function revocationOf({ revoked, keepUntil }: RevocationMessage): Revocation {
  const until = millisecondsOf(keepUntil);
  if (until === undefined) throw new Error("it sent a revocation without a valid end");
  switch (revoked.case) {
    case "sessionId":
      return { sessionId: checkId(revoked.value), keepUntil: until };
    case "tokenId":
      return { tokenId: checkId(revoked.value), keepUntil: until };
    case "subject": {
      const { subjectId: id, subjectType } = revoked.value;
      const type = callerType(subjectType);
      const issuedUntil = millisecondsOf(revoked.value.issuedUntil);
      if (type === undefined) throw unknownKind();
      if (issuedUntil === undefined) throw new Error("it sent a subject without a valid time");
      return { subject: { type, id: checkId(id), issuedUntil }, keepUntil: until };
    }
    default:
      throw unknownKind();
  }
}

function checkId(id: string): string {
  if (id === "" || id.length > MAX_ID_LENGTH) {
    throw new Error("it sent a revocation whose id is empty or too long");
  }
  return id;
}

function unknownKind(): Error {
  return new Error("it sent a kind of revocation that this version does not know; update it");
}

const NS_PER_MS = 1_000_000;
const NS_PER_S = 1_000_000_000;

/** Rounded up: a revocation must not count for too few tokens, or end too early. */
function millisecondsOf(time: Timestamp | undefined): number | undefined {
  if (time === undefined || !(time.nanos >= 0 && time.nanos < NS_PER_S)) return undefined;
  const milliseconds = Number(time.seconds) * 1000 + Math.ceil(time.nanos / NS_PER_MS);
  return milliseconds >= 0 && milliseconds <= MAX_TIME ? milliseconds : undefined;
}
