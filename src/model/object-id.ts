/** A rule for the ids of objects. */
export interface ObjectIdRule {
  /** Whether an id is one. */
  readonly allows: (id: string) => boolean;
  /** The rule in words, for messages. */
  readonly description: string;
}

/** The object id of a relationship subject that means every object of its type. */
export const WILDCARD = "*";

const MAX_BYTES = 256;
// UTF-8 cannot encode lone surrogates, so a store would not return them unchanged.
const FORBIDDEN = /[#*\s\p{Cc}\p{Cs}]/u;

/** The ids of our engines: any text that is unambiguous in `type:id#relation`. */
export const OBJECT_IDS: ObjectIdRule = {
  allows: (id) =>
    id.length > 0 &&
    id.length <= MAX_BYTES &&
    (id.length * 3 <= MAX_BYTES || Buffer.byteLength(id) <= MAX_BYTES) &&
    !FORBIDDEN.test(id),
  description: "1 to 256 bytes of UTF-8 without #, *, white space or control characters",
};

const SPICEDB_ID = /^[a-zA-Z0-9/_|\-=+]{1,1024}$/;

/** The ids of SpiceDB itself, which validation files are written in. */
export const SPICEDB_OBJECT_IDS: ObjectIdRule = {
  allows: (id) => SPICEDB_ID.test(id),
  description: "1 to 1024 of a-z, A-Z, 0-9 and / _ | - = +",
};
