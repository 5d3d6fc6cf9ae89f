import { expect, it } from 'vitest'
import { blameLines } from '../../../api/operations/files/diff/blame-lines.ts'
import { patchOf } from '../../../api/operations/files/diff/patch.ts'
import { blameApart, patchApart } from '../../../api/operations/files/diff/threaded-diff.ts'
import { turnsDuring } from '../../support/time/event-loop.ts'

// Texts that differ much cost the square of their difference, which nothing else may wait for.

const lines = Array.from({ length: 1_000 }, (_, i) => `line ${i}\n`)
const shuffled = (by: number) => lines.map((_, i) => lines[(i * 7919 + by) % lines.length]!).join('')
const versions = [shuffled(0), null, shuffled(13), shuffled(29)]

it('says of long texts what it says of short ones', async () => {
  expect(await blameApart(versions)).toEqual(blameLines(versions))
  expect(await blameApart(['a\n', 'a\nb\n'])).toEqual(blameLines(['a\n', 'a\nb\n']))
  expect(await patchApart('f', versions[0]!, versions[3]!)).toEqual(patchOf('f', versions[0]!, versions[3]!))
  expect(await patchApart('f', 'a\n', 'b\n')).toEqual(patchOf('f', 'a\n', 'b\n'))
})

it('leaves the event loop to others', async () => {
  // A thread needs several turns to start alone; work that is done here takes none.
  expect(await turnsDuring(blameApart(versions))).toBeGreaterThan(3)
  expect(await turnsDuring(patchApart('f', versions[0]!, versions[3]!))).toBeGreaterThan(3)
})

it('is given up after its time limit', async () => {
  const far = Array.from({ length: 40 }, (_, by) => shuffled(by).repeat(8))
  await expect(blameApart(far, 1)).rejects.toMatchObject({ code: 'TIME_LIMIT' })
})
