import type { LoroDoc } from 'loro-crdt'

// Updates that no Loro document exports, with a valid Loro checksum. An update starts with a magic word, the checksum
// of the rest, and the mode. Blocks of operations follow; the operations' values are at the end of a block.

const HEADER = 22
const CHECKSUM = 16
const SEED = Buffer.from('LORO').readUInt32LE(0)
const [P1, P2, P3, P4, P5] = [2654435761, 2246822519, 3266489917, 668265263, 374761393]

/** The same bytes with a valid checksum. */
export function sealed(update: Uint8Array): Uint8Array {
  const bytes = Buffer.from(update)
  bytes.writeUInt32LE(xxHash32(bytes.subarray(CHECKSUM + 4)), CHECKSUM)
  return bytes
}

/** The update with some bytes after its mode replaced. */
export function mutated(update: Uint8Array, changes: readonly { readonly at: number; readonly byte: number }[]) {
  const bytes = Buffer.from(update)
  for (const { at, byte } of changes) bytes[HEADER + (at % (bytes.length - HEADER))] = byte
  return sealed(bytes)
}

/**
 * An update with one value inside a number of nested lists. Building the value in JavaScript would overflow the stack.
 */
export function nestedValue(doc: LoroDoc, set: (value: never) => void, depth: number): Uint8Array {
  const from = doc.oplogVersion()
  set([[[1]]] as never)
  doc.commit()
  const update = Buffer.from(doc.export({ mode: 'update', from }))
  const list = Buffer.from('070107010701', 'hex')
  const at = update.indexOf(list)
  let length = at - 1
  while (length > HEADER && update[length] !== update.length - length - 1) length -= 1
  const values = Buffer.concat([
    update.subarray(length + 1, at),
    Buffer.from('0701'.repeat(depth), 'hex'),
    update.subarray(at + list.length),
  ])
  const block = Buffer.concat([update.subarray(HEADER + 1, length), varint(values.length), values])
  return sealed(Buffer.concat([update.subarray(0, HEADER), varint(block.length), block]))
}

/** LEB128. */
function varint(value: number): Buffer {
  return value < 128
    ? Buffer.from([value])
    : Buffer.concat([Buffer.from([(value % 128) + 128]), varint(Math.floor(value / 128))])
}

function xxHash32(bytes: Buffer): number {
  const rotated = (x: number, by: number) => (x << by) | (x >>> (32 - by))
  let at = 0
  let hash = (SEED + P5) | 0
  if (bytes.length >= 16) {
    const lanes = [SEED + P1 + P2, SEED + P2, SEED, SEED - P1].map((lane) => lane | 0)
    for (; at <= bytes.length - 16; at += 16)
      for (let lane = 0; lane < 4; lane++) {
        const word = bytes.readUInt32LE(at + 4 * lane)
        lanes[lane] = Math.imul(rotated((lanes[lane]! + Math.imul(word, P2)) | 0, 13), P1)
      }
    hash = [1, 7, 12, 18].reduce((sum, by, lane) => (sum + rotated(lanes[lane]!, by)) | 0, 0)
  }
  hash = (hash + bytes.length) | 0
  for (; at + 4 <= bytes.length; at += 4)
    hash = Math.imul(rotated((hash + Math.imul(bytes.readUInt32LE(at), P3)) | 0, 17), P4)
  for (; at < bytes.length; at++) hash = Math.imul(rotated((hash + Math.imul(bytes[at]!, P5)) | 0, 11), P1)
  hash = Math.imul(hash ^ (hash >>> 15), P2)
  hash = Math.imul(hash ^ (hash >>> 13), P3)
  return (hash ^ (hash >>> 16)) >>> 0
}
