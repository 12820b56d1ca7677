import type { Generated } from "svc-access/database";

/** Times are milliseconds since the epoch, which PostgreSQL returns as text. */
type Time = number;

/** The tables of local users and of those who log in. */
export interface UserTables {
  readonly iam_users: {
    readonly id: string;
    readonly username: string;
    /** The user name as it is compared: unique. */
    readonly username_key: string;
    readonly display_name: string;
    readonly email: string;
    /** The display name and the e-mail address as users are searched by them. */
    readonly display_key: Generated<string>;
    readonly email_key: Generated<string>;
    readonly avatar_url: string;
    /** In the PHC string format; null where the user has no password. */
    readonly password_hash: string | null;
    /** Counts the changes of the password. */
    readonly password_version: Generated<number>;
    /** 0 or 1. */
    readonly disabled: number;
    readonly etag: string;
    readonly create_time: Time;
    readonly update_time: Time;
    /** From then on nobody sees the user; the row goes when its relationships have gone. */
    readonly deleted_time: Time | null;
  };
  /** What people set of their own profile whose account is another provider's. */
  readonly iam_profiles: {
    readonly subject: string;
    readonly name: string;
    readonly avatar_url: string;
    readonly etag: string;
    readonly update_time: Time;
  };
  readonly iam_preferences: {
    readonly subject: string;
    /** JSON. */
    readonly document: string;
    readonly etag: string;
    readonly update_time: Time;
  };
  readonly iam_throttles: {
    readonly key: string;
    readonly failures: Generated<number>;
    readonly blocked_until: Generated<Time>;
    readonly update_time: Time;
  };
}
