import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Figure } from './figure.ts'
import { type LongRun, runBesideFloor } from './long-run.ts'

/** The parts that the cases share: a folder for their files, and one long run that several of them read. */
export class Bench {
  readonly quick: boolean
  readonly folder: string
  #long: Promise<LongRun> | null = null

  constructor(options: { quick: boolean; folder?: string | undefined }) {
    this.quick = options.quick
    this.folder = mkdtempSync(join(options.folder ?? tmpdir(), 'keepup-bench-'))
  }

  /** Rounds of a measurement that takes well under a second. */
  get rounds(): number {
    return this.quick ? 3 : 5
  }

  /** 100,000 events, of which the first 5,000 turns stand beside their floor. Quick: 1,000 turns. Made once. */
  long(): Promise<LongRun> {
    const turns = this.quick ? 1_000 : 14_300
    this.#long ??= runBesideFloor(join(this.folder, 'long'), { turns, pairedUpTo: 5_000 })
    return this.#long
  }

  /** The turn of the long run at which states are asked for. */
  get far(): number {
    return this.quick ? 1_000 : 5_000
  }

  clear(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** One subject of the table. */
export interface Case {
  readonly name: string
  run(bench: Bench): Promise<Figure[]>
}
