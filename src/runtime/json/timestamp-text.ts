const DAY = 86_400;
/** From 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z, which JSON can say. */
const FIRST = -62_135_596_800;
const LAST = 253_402_300_799;

/** A date is made once for the times of one day, which lists are full of. */
let dayNumber = Number.NaN;
let dayText = "";

/**
 * A google.protobuf.Timestamp as JSON says it, such as `2026-11-28T03:16:44.250Z`.
 *
 * @returns undefined where its values are not those of a time
 */
export function timestampText({ seconds, nanos }: Times): string | undefined {
  if (typeof seconds !== "bigint" || !Number.isInteger(nanos)) return undefined;
  const time = Number(seconds);
  if (time < FIRST || time > LAST || nanos < 0 || nanos > 999_999_999) return undefined;
  const day = Math.floor(time / DAY);
  if (day !== dayNumber) {
    dayText = new Date(day * DAY * 1000).toISOString().slice(0, 11);
    dayNumber = day;
  }
  const left = time - day * DAY;
  const hours = twoDigits(Math.floor(left / 3600));
  const minutes = twoDigits(Math.floor(left / 60) % 60);
  return `${dayText}${hours}:${minutes}:${twoDigits(left % 60)}${fraction(nanos)}Z`;
}

/** What a Timestamp holds. */
interface Times {
  readonly seconds: bigint;
  readonly nanos: number;
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : `${number}`;
}

/** With three, six or nine digits, or none. */
function fraction(nanos: number): string {
  if (nanos === 0) return "";
  const digits = String(nanos + 1_000_000_000).slice(1);
  if (digits.endsWith("000000")) return `.${digits.slice(0, 3)}`;
  return digits.endsWith("000") ? `.${digits.slice(0, 6)}` : `.${digits}`;
}
