import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { keepup } from '../faults/cli.ts'
import { Checker } from './checkers.ts'
import { hashOf, type Image, writeImage } from './images.ts'
import { type Findings, homeOf, type Scenario } from './scenario.ts'

/** What one image shows. */
export interface Found extends Findings {
  readonly after: number
  readonly reached: string
}

/** The result of all images of a recording. */
export interface Checked {
  readonly images: number
  /** Images with different contents. */
  readonly different: number
  /** Those that were opened, and those that new processes opened too. */
  readonly opened: number
  readonly anew: number
  readonly found: readonly Found[]
  /** Files that a process left open. */
  readonly leaked: number
}

export interface CheckOptions {
  readonly draw: (below: number) => number
  /** Of the different images, open one of this many. */
  readonly every?: number
  /** Of the opened images, one of this many is also opened by new processes. */
  readonly anewEvery?: number
  /** Processes that open images at once. */
  readonly atOnce?: number
  /** Stops at this many images with findings. */
  readonly most?: number
}

/** Opens the images of a recording that was made below `root`. Identical images are opened once. */
export async function checkImages(
  scenario: Scenario,
  root: string,
  images: Generator<Image>,
  { draw, every = 1, anewEvery = 50, atOnce = 1, most = 10 }: CheckOptions,
): Promise<Checked> {
  const seen = new Set<string>()
  const hashes = new WeakMap<Buffer, string>()
  const found: Found[] = []
  const counts = { images: 0, different: 0, opened: 0, anew: 0 }

  /** The next image to open, and whether new processes open it too. */
  const next = (): { image: Image; isAnew: boolean } | null => {
    for (let one = images.next(); found.length < most && one.done !== true; one = images.next()) {
      counts.images++
      const hash = hashOf(one.value, one.value.said.length, hashes)
      if (seen.has(hash)) continue
      seen.add(hash)
      counts.different++
      if (draw(every) === 0) return { image: one.value, isAnew: draw(anewEvery) === 0 }
    }
    return null
  }
  const work = async (checker: Checker) => {
    const look = async (by: Checker, image: Image) => {
      writeImage(by.place.root, image, root)
      const findings = await by.check(scenario, image.said)
      if (findings.lost.length + findings.named.length > 0)
        found.push({ after: image.after, reached: image.reached, ...findings })
    }
    for (let one = next(); one !== null; one = next()) {
      counts.opened++
      await look(checker, one.image)
      if (!one.isAnew) continue
      counts.anew++
      const other = new Checker()
      try {
        await look(other, one.image)
        writeImage(other.place.root, one.image, root)
        const why = scenario.isDataFolder ? await refusal(other) : null
        if (why !== null) found.push({ after: one.image.after, reached: one.image.reached, lost: [], named: [why] })
      } finally {
        await other.close()
      }
    }
  }
  const checkers = Array.from({ length: atOnce }, () => new Checker())
  try {
    await Promise.all(checkers.map(work))
  } finally {
    await Promise.all(checkers.map((checker) => checker.close()))
  }
  return { ...counts, found, leaked: Math.max(...checkers.map(({ leaked }) => leaked)) }
}

/** The output of `keepup verify` in a new process if it fails. */
async function refusal({ place }: Checker): Promise<string | null> {
  if (!existsSync(join(place.data, 'log', 'log.db'))) return null
  const { code, out, err } = await keepup(place, ['verify'], { env: homeOf(place) })
  return code === 0 ? null : `a new process of verify ended with ${code}:\n${out}${err}`
}
