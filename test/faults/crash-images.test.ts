import { afterEach, describe, expect, test, vi } from 'vitest'
import { checkImages } from '../support/crash-images/check.ts'
import { firstRun } from '../support/crash-images/data-folders.ts'
import { type Image, imagesOf, lostWritesOf, type Reached } from '../support/crash-images/images.ts'
import { appends, blobs, checkpoints, plans, snapshots } from '../support/crash-images/parts.ts'
import type { Change, Recording } from '../support/crash-images/recording.ts'
import type { Scenario } from '../support/crash-images/scenario.ts'
import { recordScenario } from '../support/crash-images/scenarios.ts'
import { newPlace } from '../support/faults/cli.ts'
import { draws, FAULT_SEED, FAULT_TIMEOUT_MS } from '../support/faults/seed.ts'

// A sample; every image of all scenarios: `npm run test:campaigns -- crash-images`.

vi.setConfig({ testTimeout: FAULT_TIMEOUT_MS })

let place: ReturnType<typeof newPlace> | undefined
afterEach(() => {
  place?.remove()
  place = undefined
})

/** Opens about `count` images of a scenario. `imagesOfIt` makes them of its recording. */
async function sampled(
  scenario: Scenario,
  count: number,
  imagesOfIt: (recording: Recording) => Generator<Image> = (recording) => imagesOf(recording, draws(FAULT_SEED)),
) {
  place = newPlace()
  const recording = await recordScenario(place, scenario)
  const every = Math.max(1, Math.ceil((3 * recording.changes.length) / count))
  return checkImages(scenario, place.root, imagesOfIt(recording), { draw: draws(FAULT_SEED), every, most: count })
}

test.each([
  [firstRun, 12],
  [appends, 60],
  [blobs, 60],
  [plans, 60],
  [snapshots, 60],
])(
  `a power cut during $name loses nothing acknowledged (FAULT_SEED=${FAULT_SEED})`,
  {
    tags: ['strace'],
  },
  async (scenario, count) => {
    const { opened, found, leaked } = await sampled(scenario, count)
    expect(found).toEqual([])
    expect(opened).toBeGreaterThan(2)
    expect(leaked).toBeLessThan(10)
  },
)

test('a disk that ignores fsync loses acknowledged events, and the check says so', { tags: ['strace'] }, async () => {
  const { found } = await sampled(appends, 60, ({ changes, before }) =>
    imagesOf({ before, changes: changes.filter(({ kind }) => kind !== 'sync') }, draws(FAULT_SEED)),
  )
  expect(found.flatMap(({ lost }) => lost)).toContainEqual(expect.stringMatching(/was acknowledged and is lost/))
})

test.each([appends, checkpoints])(
  'a write during $name that the disk acknowledges and does not perform loses nothing silently',
  {
    tags: ['strace'],
  },
  async (scenario) => {
    const { opened, found } = await sampled(scenario, 10_000, lostWritesOf)
    expect(opened).toBeGreaterThan(50)
    // Some lost writes do damage, and the program names each damage.
    expect(found.length).toBeGreaterThan(0)
    for (const { after, lost, named } of found)
      expect({ after, lost, named: named.length > 0 }).toMatchObject({ named: true })
  },
)

describe('images', () => {
  type Draft = Change extends infer Each ? (Each extends Change ? Omit<Each, 'begun' | 'ended'> : never) : never
  /** The different contents of a path in the images after the last change. Null: the path is missing. */
  const contentsOf = (path: string, drafts: readonly Draft[], reached?: Reached): (string | null)[] => {
    const changes = drafts.map((draft, i) => ({ ...draft, begun: 2 * i, ended: 2 * i + 1 }) as Change)
    const recording = { changes, before: { names: new Map(), contents: new Map() } }
    const last = [...imagesOf(recording, draws(7), 40)].filter((image) => image.after === changes.length)
    const found = last
      .filter((image) => reached === undefined || image.reached === reached)
      .map(({ files }) => files.get(path)?.toString() ?? null)
    return [...new Set(found)].sort()
  }
  const bytes = (text: string) => Buffer.from(text)
  const made: Draft = { kind: 'link', path: '/a', file: 0 }

  test('a file that was written without a sync may be missing, empty or complete', () => {
    const written: Draft = { kind: 'write', file: 0, at: 0, bytes: bytes('x') }
    expect(new Set(contentsOf('/a', [made, written]))).toEqual(new Set(['', 'x', null]))
  })

  test('a sync keeps the writes that ended before it began', () => {
    const [one, two] = ['1', '2'].map((text, at): Draft => ({ kind: 'write', file: 0, at, bytes: bytes(text) }))
    const sync: Draft = { kind: 'sync', file: 0 }
    expect(contentsOf('/a', [made, one!, sync, two!])).toEqual(['1', '12'])
  })

  test('a renamed file can have its new name without its content', () => {
    const written: Draft = { kind: 'write', file: 0, at: 0, bytes: bytes('x') }
    const renamed: Draft = { kind: 'rename', from: '/a', to: '/b' }
    const sync: Draft = { kind: 'sync', file: null }
    expect(contentsOf('/b', [made, written, renamed, sync])).toEqual(['', 'x'])
  })

  test('sectors of one write arrive independently, and a sector arrives complete', () => {
    const written: Draft = { kind: 'write', file: 0, at: 0, bytes: Buffer.alloc(1024, 'x') }
    const found = contentsOf('/a', [made, { kind: 'sync', file: null }, written], 'some')
    expect(found.map((content) => content?.replaceAll('\0', '-').replaceAll(/(.)\1*/g, '$1')).sort()).toEqual(
      ['', '-x', 'x', 'x'].sort(),
    )
  })
})
