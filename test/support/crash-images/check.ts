import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import type { Place } from '../faults/cli.ts'
import { look } from '../faults/inspect.ts'
import { hashOf, type Image, imagesOf, writeImage } from './images.ts'
import type { Recording } from './recording.ts'

/** A fault of the program: an image that it does not open, an acknowledged event that is lost, or a damage. */
export interface Fault {
  readonly after: number
  readonly reached: string
  readonly why: string
}

/** The faults of one image after it was written. */
type Check = (image: Image) => Promise<string[]>

/** The result of all images of a recording. */
export interface Checked {
  readonly changes: number
  readonly images: number
  /** Images with different contents, each of which was opened. */
  readonly opened: number
  readonly faults: readonly Fault[]
}

export interface CheckOptions {
  readonly draw: (below: number) => number
  /** Of the different images, check one of this many. */
  readonly every?: number
  readonly check: Check
  /** Stops at this many faults. */
  readonly faults?: number
}

/** Writes the images of a recording over `root`, one after the other, and checks each. */
export async function checkImages(root: string, recording: Recording, options: CheckOptions): Promise<Checked> {
  const { draw, every = 1, check, faults: most = 10 } = options
  const seen = new Set<string>()
  const hashes = new WeakMap<Buffer, string>()
  const faults: Fault[] = []
  let [images, opened] = [0, 0]
  for (const image of imagesOf(recording, draw)) {
    images++
    const hash = hashOf(image, image.said.length, hashes)
    if (seen.has(hash)) continue
    seen.add(hash)
    if (draw(every) !== 0) continue
    opened++
    writeImage(root, image)
    for (const why of await check(image)) faults.push({ after: image.after, reached: image.reached, why })
    if (faults.length >= most) break
  }
  return { changes: recording.changes.length, images, opened, faults }
}

/** The lines that a program had printed. */
export type Said = readonly string[]

/** The events that a program had acknowledged, as `ack POSITION HASH`. */
const acknowledgedIn = (said: Said): Map<number, string> =>
  new Map(
    said.flatMap((line) => {
      const [, position, hash] = /^ack (\d+) (\w{64})$/.exec(line) ?? []
      return position === undefined ? [] : [[Number(position), hash!] as const]
    }),
  )

/**
 * The log of a place opens as its owner would open it, and contains each acknowledged event. Returns the faults.
 */
export async function logFaults(place: Place, said: Said): Promise<string[]> {
  const acknowledged = acknowledgedIn(said)
  const folder = join(place.data, 'log')
  if (acknowledged.size === 0 && !existsSync(folder)) return []
  try {
    const log = await openSqliteLog({ folder, mode: 'owner' })
    const found = new Map<number, string>()
    try {
      for await (const page of log.readAll(null, { bodies: false }))
        for (const { position, hash } of page) found.set(position, hash)
    } finally {
      await log.close()
    }
    return [...acknowledged].flatMap(([position, hash]) =>
      found.get(position) === hash ? [] : [`the event at ${position} was acknowledged and is lost`],
    )
  } catch (error) {
    return [`the log is refused: ${error}`]
  }
}

/** `verify` of everything finds nothing wrong. Returns the faults. */
export async function verifyFaults(place: Place): Promise<string[]> {
  if (!existsSync(join(place.data, 'log', 'log.db'))) return []
  const { code, out, err } = await look(place, 'verify')
  return code === 0 ? [] : [`verify ended with ${code}:\n${out}${err}`]
}
