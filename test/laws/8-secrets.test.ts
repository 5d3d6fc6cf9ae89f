import fc from 'fast-check'
import { expect, test } from 'vitest'
import { law } from '../support/laws.ts'
import { PLACES, tell } from '../support/secrets/secret-places.ts'

// Law 8: no secret leaves the boundary, wherever a person, a model or a tool puts it. With real processes and files it is
// held in test/faults/secrets.

const PUBLIC = 'PUBLIC4F9C1E77'

/** Semaphore whose text is refused or left out where it is not of its form, so that a public word does not show either. */
const UNSHOWN = ['key', 'model error cut', 'trace', 'fork key', 'approval call', 'secret name', 'gate', 'doubt call']

test.each(PLACES)('%s: what is no secret is written there', async (place) => {
  const { written, refused } = await tell(place, PUBLIC, 'another-secret')
  if (!UNSHOWN.includes(place)) expect(written.includes(PUBLIC)).toBe(true)
  expect(refused.filter((code) => code.startsWith('SECRET'))).toEqual([])
})

const secret = fc.oneof(
  fc.stringMatching(/^[A-Z][A-Z0-9]{7,20}$/),
  fc.stringMatching(/^[a-z0-9+/=_ "\\&é]{12,40}$/).filter((text) => text.trim().length > 11),
)

test('a secret is in no byte of log, blobs, snapshots or feed, wherever it is put', async () => {
  await law(fc.tuple(fc.constantFrom(...PLACES), secret), 80, async ([place, planted]) => {
    const { written } = await tell(place, planted, planted)
    for (const form of [planted.slice(0, -1), planted.slice(0, -1).toUpperCase(), JSON.stringify(planted).slice(1, -2)])
      expect(written.includes(form), place).toBe(false)
  })
})
