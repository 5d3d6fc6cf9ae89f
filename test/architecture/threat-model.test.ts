import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../domain/secrets/redactor.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'api/docs/threat-model.md'), 'utf8')

/** The rows of the table under a heading, without its head. */
const rowsUnder = (heading: string): string[] => {
  const section = page.split(/^## /m).find((text) => text.startsWith(heading))!
  return section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
}

describe('the page of the threat model', () => {
  it('names an existing test for each promise', () => {
    const rows = rowsUnder('What keepup promises')
    expect(rows.length).toBeGreaterThan(12)
    for (const row of rows) {
      const path = /\| `(test\/[\w./-]+\.test\.ts)` \|$/.exec(row)?.[1]
      expect([row, path]).toEqual([row, expect.any(String)])
      expect(readFileSync(join(root, path!), 'utf8')).toMatch(/\b(it|test)\b/)
    }
  })

  it('is linked from the README', () => {
    const [, safety = ''] = readFileSync(join(root, 'README.md'), 'utf8').split('## Safety')
    expect(safety).toContain('](api/docs/threat-model.md)')
  })

  it('names the forms that redaction does not cover', () => {
    const value = 'a-known-value-77'
    const { redactText } = createRedactor({ key: new Uint8Array(32), known: [value] })
    const reversed = [...value].reverse().join('')
    const split = value.replace('-', ' and then ')
    const compressed = gzipSync(value).toString('base64')
    for (const text of [reversed, split, compressed]) expect(redactText(text).value).toBe(text)
    for (const word of ['reversed', 'compressed', 'split by words', 'rotated']) expect(page).toContain(word)
  })
})
