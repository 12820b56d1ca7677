import type { Revocation } from "./revocation.ts";

/** A response of `svc.iam.v1.IAMRevocationService/WatchRevocations`. */
export interface RevocationFeedResponse {
  /** Where a later call continues. */
  position: string;
  /** Whether a snapshot begins. */
  snapshotBegin: boolean;
  /** What is revoked. */
  revocations: RevocationFeedEntry[];
  /** Whether nothing is missing. */
  current: boolean;
  /** The clock of the feed. */
  time: RevocationTime;
}

/** A revocation as a response has it. */
export interface RevocationFeedEntry {
  /** The tokens that it is about. */
  revoked: RevokedIdEntry | RevokedSubjectEntry;
  /** Until when it must be kept. */
  keepUntil: RevocationTime;
}

/** The tokens of a session, or one token. */
export interface RevokedIdEntry {
  /** Which of them. */
  case: "sessionId" | "tokenId";
  /** The claim `sid` or `jti`. */
  value: string;
}

/** The tokens of a subject. */
export interface RevokedSubjectEntry {
  /** That it is a subject. */
  case: "subject";
  /** Which, and which of its tokens. */
  value: RevokedSubjectMessage;
}

/** A subject, and the time up to which its tokens are revoked. */
export interface RevokedSubjectMessage {
  /** The claim `sub`. */
  subjectId: string;
  /** `user` or `service_account`. */
  subjectType: string;
  /** The last `iat` of its revoked tokens. */
  issuedUntil: RevocationTime;
}

/** A time as a response has it: a `google.protobuf.Timestamp`. */
export interface RevocationTime {
  /** Whole seconds since the epoch. */
  seconds: bigint;
  /** The rest, in nanoseconds. */
  nanos: number;
}

/** A revocation in the form of a response. */
export function entryOf(revocation: Revocation): RevocationFeedEntry {
  const keepUntil = timeOf(revocation.keepUntil);
  if ("sessionId" in revocation) {
    return { revoked: { case: "sessionId", value: revocation.sessionId }, keepUntil };
  }
  if ("tokenId" in revocation) {
    return { revoked: { case: "tokenId", value: revocation.tokenId }, keepUntil };
  }
  const { type, id, issuedUntil } = revocation.subject;
  const value = { subjectId: id, subjectType: type, issuedUntil: timeOf(issuedUntil) };
  return { revoked: { case: "subject", value }, keepUntil };
}

const NS_PER_MS = 1_000_000;

/** A time in milliseconds since the epoch in the form of a response, rounded up. */
export function timeOf(time: number): RevocationTime {
  const milliseconds = Math.ceil(time);
  const seconds = Math.floor(milliseconds / 1000);
  return { seconds: BigInt(seconds), nanos: (milliseconds - seconds * 1000) * NS_PER_MS };
}
