import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";

/** The messages that the suite writes to a program: each after its length, in four bytes. */
export async function* readMessages<Schema extends DescMessage>(
  input: AsyncIterable<Buffer>,
  schema: Schema,
): AsyncGenerator<MessageShape<Schema>> {
  let buffered: Buffer = Buffer.alloc(0);
  for await (const chunk of input) {
    buffered = Buffer.concat([buffered, chunk]);
    while (buffered.length >= 4 && buffered.length >= 4 + buffered.readUInt32BE()) {
      const end = 4 + buffered.readUInt32BE();
      yield fromBinary(schema, buffered.subarray(4, end));
      buffered = buffered.subarray(end);
    }
  }
}

/** Answers the suite. */
export function writeMessage<Schema extends DescMessage>(
  output: NodeJS.WritableStream,
  schema: Schema,
  init: MessageInitShape<Schema>,
): void {
  const bytes = toBinary(schema, create(schema, init));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  output.write(Buffer.concat([length, bytes]));
}
