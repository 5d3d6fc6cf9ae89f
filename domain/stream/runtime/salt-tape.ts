import type { Random } from '../../ports/index.ts'

/** The randomness of one decision. It is drawn once and replayed when the decision is made again. */
export class SaltTape {
  private readonly random: Random
  private readonly salts: Uint8Array[] = []
  private readonly jitters: number[] = []
  private nextSalt = 0
  private nextJitter = 0

  constructor(random: Random) {
    this.random = random
  }

  rewind(): void {
    this.nextSalt = 0
    this.nextJitter = 0
  }

  salt(): Uint8Array {
    const index = this.nextSalt++
    const salt = this.salts[index] ?? this.random.bytes(16)
    this.salts[index] = salt
    return salt
  }

  jitter(): number {
    const index = this.nextJitter++
    const jitter = this.jitters[index] ?? new DataView(this.random.bytes(4).buffer).getUint32(0) / 2 ** 32
    this.jitters[index] = jitter
    return jitter
  }
}
