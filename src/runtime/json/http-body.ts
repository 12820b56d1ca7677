import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";

/** The properties of `google.api.HttpBody`: a raw body with its content type. */
export type HttpBody = Message & {
  contentType: string;
  data: Uint8Array;
  extensions?: readonly Message[];
};

/** The type of a body without one, which no browser executes. */
export const DEFAULT_TYPE = "application/octet-stream";

const MEDIA_TYPE =
  /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+\/[!#$%&'*+\-.^_`|~0-9A-Za-z]+[ \t]*(?:;[\t\x20-\x7e]*)?$/;

/** Whether a message is `google.api.HttpBody`, which HTTP carries as its body and not as JSON. */
export function isHttpBody({ typeName, field }: DescMessage): boolean {
  return (
    typeName === "google.api.HttpBody" &&
    isScalar(field["contentType"], ScalarType.STRING) &&
    isScalar(field["data"], ScalarType.BYTES)
  );
}

/** Whether a field holds one `google.api.HttpBody`. */
export function holdsHttpBody(field: DescField | undefined): boolean {
  return field?.fieldKind === "message" && isHttpBody(field.message);
}

/** The Content-Type of a body; undefined if it is not valid. */
export function mediaTypeOf({ contentType }: HttpBody): string | undefined {
  if (contentType === "") return DEFAULT_TYPE;
  return MEDIA_TYPE.test(contentType) ? contentType : undefined;
}

function isScalar(field: DescField | undefined, scalar: ScalarType): boolean {
  return field?.fieldKind === "scalar" && field.scalar === scalar;
}
