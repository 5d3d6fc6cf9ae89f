/** A system call in the form that the kernel passes to a filter. */
export interface Call {
  readonly audit: number
  readonly number: number
  readonly args?: readonly number[]
}

/**
 * The decision of a classic BPF filter on a call. Supports the instructions in this project's filters; throws for
 * another instruction, or for a jump out of the program.
 */
export function decisionOf(filter: Buffer, { audit, number, args = [] }: Call): number {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(number >>> 0, 0)
  data.writeUInt32LE(audit >>> 0, 4)
  for (const [at, value] of args.entries()) data.writeBigUInt64LE(BigInt(value), 16 + 8 * at)
  let word = 0
  for (let at = 0; at < filter.length / 8; at++) {
    const code = filter.readUInt16LE(at * 8)
    const value = filter.readUInt32LE(at * 8 + 4)
    const jump = (is: boolean) => filter.readUInt8(at * 8 + (is ? 2 : 3))
    if (code === 0x06) return value
    if (code === 0x20) word = data.readUInt32LE(value)
    else if (code === 0x15) at += jump(word === value)
    else if (code === 0x35) at += jump(word >= value)
    else if (code === 0x45) at += jump((word & value) !== 0)
    else throw new Error(`the filter has the unknown instruction ${code.toString(16)}`)
  }
  throw new Error('the filter ends without a decision')
}
