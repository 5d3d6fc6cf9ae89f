import { afterEach, describe, expect, test, vi } from 'vitest'
import { checkImages } from '../support/crash-images/check.ts'
import { type Image, imagesOf, type Reached } from '../support/crash-images/images.ts'
import type { Change, Recording } from '../support/crash-images/recording.ts'
import { appends, firstRun, recordScenario, type Scenario } from '../support/crash-images/scenarios.ts'
import { newPlace } from '../support/faults/cli.ts'
import { draws, FAULT_SEED, FAULT_TIMEOUT_MS } from '../support/faults/seed.ts'

// A sample; every image of more scenarios: `npm run test:campaigns -- crash-images`.

vi.setConfig({ testTimeout: FAULT_TIMEOUT_MS })

let place: ReturnType<typeof newPlace> | undefined
afterEach(() => {
  vi.unstubAllEnvs()
  place?.remove()
  place = undefined
})

/** Checks about `count` images of a scenario; `change` alters its recording. */
async function sampled(scenario: Scenario, count: number, change = (recording: Recording) => recording) {
  place = newPlace()
  const recording = change(await recordScenario(place, scenario))
  const every = Math.max(1, Math.ceil((3 * recording.changes.length) / count))
  const check = ({ said }: Image) => scenario.check(place!, said)
  return checkImages(place.root, recording, { draw: draws(FAULT_SEED), every, check })
}

test(`a power cut during the first run loses nothing acknowledged (FAULT_SEED=${FAULT_SEED})`, {
  tags: ['strace'],
}, async () => {
  const { opened, faults } = await sampled(firstRun, 12)
  expect(faults).toEqual([])
  expect(opened).toBeGreaterThan(2)
})

test('a disk that ignores fsync loses acknowledged events, and the check says so', { tags: ['strace'] }, async () => {
  const { faults } = await sampled(appends, 60, (recording) => ({
    ...recording,
    changes: recording.changes.filter(({ kind }) => kind !== 'sync'),
  }))
  expect(faults.map(({ why }) => why)).toContainEqual(expect.stringMatching(/was acknowledged and is lost|is refused/))
})

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
